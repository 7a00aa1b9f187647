#include <algorithm>
#include <sched.h>

#include "scheduler/executor.hpp"
#include "tools/bench/replay/stencil_case.hpp"

namespace tessera::bench {
namespace {

using Function = void (*)(StencilBody&, int, int);
void call(StencilBody& body, int step, int column) { body(step, column); }
/// The compiler must not look into the task, as it cannot where a component brings it.
volatile Function opaque = call;

/// The stencil as an executor sees it. Node step * width + column; a worker is home to a range of columns.
class StencilSource : public NodeSource {
 public:
  StencilSource(const StencilCase& shape, StencilBody& body) : shape_(shape), body_(body), task_(opaque) {
    counts_.reserve(static_cast<std::size_t>(shape.tasks()));
    offsets_.push_back(0);
    for (int step = 0; step < shape.steps; ++step) {
      for (int column = 0; column < shape.width; ++column) {
        const int low = std::max(0, column - 1);
        const int high = std::min(shape.width - 1, column + 1);
        counts_.push_back(step == 0 ? 0 : high - low + 1);
        for (int j = low; j <= high && step + 1 < shape.steps; ++j)
          successors_.push_back((step + 1) * shape.width + j);
        offsets_.push_back(std::ssize(successors_));
      }
    }
  }

  std::int64_t nodeCount() const override { return shape_.tasks(); }
  NodeTraits traits(std::int32_t node, int workers) const override {
    return {.home = static_cast<int>(std::int64_t{node % shape_.width} * workers / shape_.width)};
  }
  std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    const auto n = static_cast<std::size_t>(node);
    return std::span(successors_)
        .subspan(static_cast<std::size_t>(offsets_[n]),
                 static_cast<std::size_t>(offsets_[n + 1] - offsets_[n]));
  }
  bool run(std::int32_t node, int /*worker*/) override {
    task_(body_, node / shape_.width, node % shape_.width);
    return true;
  }
  std::span<const std::int32_t> poll() override { return {}; }

 private:
  const StencilCase shape_;
  StencilBody& body_;
  Function task_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> successors_;
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
class TesseraSystem : public StencilSystem {
 public:
  TesseraSystem(const StencilCase& shape, StencilBody& body) : source_(shape, body) {
    sched_getaffinity(0, sizeof(allowed_), &allowed_);
    const std::vector<int> cores = firstCores(allowed_, shape.threads);
    executor_ = makeThreadsExecutor(shape.threads, cores);
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
  StencilSource source_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Replay> replay_;
};

}  // namespace

std::unique_ptr<StencilSystem> makeTessera(const StencilCase& shape, StencilBody& body) {
  return std::make_unique<TesseraSystem>(shape, body);
}

}  // namespace tessera::bench
