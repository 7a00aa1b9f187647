#include <sched.h>

#include "scheduler/executor.hpp"
#include "taskgraph/row_lists.hpp"
#include "tools/bench/replay/replay_system.hpp"

namespace tessera::bench {
namespace {

/// The graph as an executor sees it. A worker is home to a range of columns.
class GraphSource : public NodeSource {
 public:
  GraphSource(const ReplayGraph& graph, TaskCall task)
      : graph_(graph), task_(task), counts_(graph.predecessorCounts) {
    for (const NodeId node : nodes()) {
      for (const std::int32_t next : graph.successors.of(node.value())) successors_.push(NodeId(next));
      successors_.endRow();
    }
  }

  std::int64_t nodeCount() const override { return graph_.tasks(); }
  NodeTraits traits(NodeId node, int workers) const override {
    const std::int64_t column = graph_.places[node.index()].column;
    return {.home = static_cast<int>(column * workers / graph_.width)};
  }
  IdSpan<NodeId, const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const NodeId> successors(NodeId node) const override { return successors_.row(node); }
  bool run(NodeId node, int /*worker*/) override {
    task_(node.value());
    return true;
  }
  std::span<const NodeId> poll() override { return {}; }
  std::string describe(NodeId node) const override {
    const TaskPlace place = graph_.places[node.index()];
    return "task of step " + std::to_string(place.step) + ", column " + std::to_string(place.column);
  }

 private:
  const ReplayGraph& graph_;
  const TaskCall task_;
  IdVector<NodeId, std::int32_t> counts_;
  RowLists<NodeId, NodeId> successors_;
};

/// The first `count` cores that this process may use; none where there are fewer.
std::vector<int> firstCores(const cpu_set_t& allowed, int count) {
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && std::ssize(cores) < count; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) cores.push_back(core);
  }
  return std::ssize(cores) == count ? cores : std::vector<int>{};
}

/// A worker a core, as `tessera run` does where it has all cores. The calling thread is bound while it is one
/// of the workers only, because threads that other runtimes start later would inherit that.
class TesseraSystem : public ReplaySystem {
 public:
  TesseraSystem(const ReplayGraph& graph, TaskCall task, int threads) : source_(graph, task) {
    sched_getaffinity(0, sizeof(allowed_), &allowed_);
    const std::vector<int> cores = firstCores(allowed_, threads);
    executor_ = makeThreadsExecutor(threads, {.cores = cores});
    sched_getaffinity(0, sizeof(bound_), &bound_);
    leave();
    replay_ = executor_->prepare(source_);
  }
  std::string name() const override { return "Tessera"; }
  void enter() override { sched_setaffinity(0, sizeof(bound_), &bound_); }
  void leave() override { sched_setaffinity(0, sizeof(allowed_), &allowed_); }
  void replay() override { replay_->run(); }

 private:
  cpu_set_t allowed_{};
  cpu_set_t bound_{};
  GraphSource source_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Replay> replay_;
};

}  // namespace

std::unique_ptr<ReplaySystem> makeTessera(const ReplayGraph& graph, TaskCall task, int threads) {
  return std::make_unique<TesseraSystem>(graph, task, threads);
}

}  // namespace tessera::bench
