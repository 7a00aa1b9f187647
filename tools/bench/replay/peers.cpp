// Other runtimes on the same graph, where the build found them. Own code, only for comparison.
#include <atomic>

#include "tools/bench/replay/replay_system.hpp"

#if defined(TESSERA_HAVE_TBB)
#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif
#if defined(TESSERA_HAVE_OPENMP)
#include <omp.h>
#endif

namespace tessera::bench {
namespace {

#if defined(TESSERA_HAVE_TBB)
/// A graph of nodes that is made once and replayed.
class TbbFlowGraph : public ReplaySystem {
  using Message = tbb::flow::continue_msg;
  using Node = tbb::flow::continue_node<Message>;

 public:
  TbbFlowGraph(const ReplayGraph& shape, TaskCall task, int threads) : arena_(threads) {
    arena_.execute([&] {
      graph_ = std::make_unique<tbb::flow::graph>();
      start_ = std::make_unique<tbb::flow::broadcast_node<Message>>(*graph_);
      const auto tasks = static_cast<std::int32_t>(shape.tasks());
      for (std::int32_t n = 0; n < tasks; ++n)
        nodes_.push_back(std::make_unique<Node>(*graph_, [task, n](const Message&) { task(n); }));
      for (std::int32_t n = 0; n < tasks; ++n) {
        const auto at = static_cast<std::size_t>(n);
        if (shape.predecessorCounts[at] == 0) tbb::flow::make_edge(*start_, *nodes_[at]);
        for (const std::int32_t next : shape.successors.of(n))
          tbb::flow::make_edge(*nodes_[at], *nodes_[static_cast<std::size_t>(next)]);
      }
    });
  }
  std::string name() const override { return "oneTBB flow graph"; }
  void replay() override {
    arena_.execute([&] {
      start_->try_put(Message());
      graph_->wait_for_all();
    });
  }

 private:
  tbb::task_arena arena_;
  std::unique_ptr<tbb::flow::graph> graph_;
  std::unique_ptr<tbb::flow::broadcast_node<Message>> start_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// Counters by hand, ready tasks given to a task group.
class TbbCounters : public ReplaySystem {
 public:
  TbbCounters(const ReplayGraph& graph, TaskCall task, int threads)
      : graph_(graph), task_(task), arena_(threads), counts_(static_cast<std::size_t>(graph.tasks())) {}
  ~TbbCounters() noexcept override = default;
  std::string name() const override { return "oneTBB task group, counters"; }
  void replay() override {
    arena_.execute([&] {
      for (std::size_t n = 0; n < counts_.size(); ++n)
        counts_[n].store(graph_.predecessorCounts[n], std::memory_order_relaxed);
      for (std::size_t n = 0; n < counts_.size(); ++n) {
        if (graph_.predecessorCounts[n] == 0)
          group_.run([this, n] { execute(static_cast<std::int32_t>(n)); });
      }
      group_.wait();
    });
  }

 private:
  void execute(std::int32_t node) {
    while (node >= 0) {
      task_(node);
      std::int32_t inHand = -1;
      for (const std::int32_t next : graph_.successors.of(node)) {
        if (counts_[static_cast<std::size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (inHand < 0) {
          inHand = next;
        } else {
          group_.run([this, next] { execute(next); });
        }
      }
      node = inHand;
    }
  }

  const ReplayGraph& graph_;
  const TaskCall task_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  std::vector<std::atomic<std::int32_t>> counts_;
};
#endif

#if defined(TESSERA_HAVE_OPENMP)
/// Tasks with dependences, made anew in each replay by one thread: OpenMP keeps no graph. It finds the edges
/// by the slots that a task reads and writes.
class OpenMpDepend : public ReplaySystem {
 public:
  OpenMpDepend(const ReplayGraph& graph, TaskCall task, int threads)
      : graph_(graph), task_(task), threads_(threads), slots_(static_cast<std::size_t>(graph.slots())) {}
  std::string name() const override { return "OpenMP task depend"; }
  void replay() override {
    const TaskCall task = task_;
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (std::int32_t node = 0; node < graph_.tasks(); ++node) {
      [[maybe_unused]] const std::span<const std::int32_t> inputs = graph_.inputs.of(node);
      [[maybe_unused]] const int count = static_cast<int>(inputs.size());
#pragma omp task firstprivate(node, task) depend(iterator(k = 0                                 \
                                                          : count),                             \
                                                 in                                             \
                                                 : *slot(inputs[static_cast <std::size_t>(k)])) \
    depend(out                                                                                  \
           : *slot(node))
      task(node);
    }
  }

 private:
  char* slot(std::int32_t node) { return slots_.data() + graph_.slotOf(node); }

  const ReplayGraph& graph_;
  const TaskCall task_;
  const int threads_;
  std::vector<char> slots_;
};
#endif

}  // namespace

std::vector<std::unique_ptr<ReplaySystem>> makePeers([[maybe_unused]] const ReplayGraph& graph,
                                                     [[maybe_unused]] TaskCall task,
                                                     [[maybe_unused]] int threads) {
  std::vector<std::unique_ptr<ReplaySystem>> peers;
#if defined(TESSERA_HAVE_TBB)
  peers.push_back(std::make_unique<TbbFlowGraph>(graph, task, threads));
  peers.push_back(std::make_unique<TbbCounters>(graph, task, threads));
#endif
#if defined(TESSERA_HAVE_OPENMP)
  // With one thread libgomp takes seconds for more unfinished tasks than this.
  if (threads > 1 || graph.tasks() <= 25'600)
    peers.push_back(std::make_unique<OpenMpDepend>(graph, task, threads));
#endif
  return peers;
}

}  // namespace tessera::bench
