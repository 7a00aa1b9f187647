#include <chrono>
#include <set>
#include <vector>

#include "core/text/error.hpp"
#include "core/transport/step_aside.hpp"
#include "scheduler/diagnostics/stall_report.hpp"
#include "scheduler/executor.hpp"

namespace tessera {
namespace {

/// Runs every node whose predecessors have finished, lowest number first; looks after messages when there is
/// none.
class InOrderExecutor : public Executor {
 public:
  /// It can wait for other ranks only, for which it has the double patience.
  explicit InOrderExecutor(double stallSeconds) : stallSeconds_(2.0 * stallSeconds) {}
  int threads() const override { return 1; }
  double waitSeconds() const override { return waitSeconds_; }
  std::unique_ptr<Replay> prepare(NodeSource& source) override {
    return std::make_unique<InOrderReplay>(*this, source);
  }

 private:
  class InOrderReplay : public Replay {
   public:
    InOrderReplay(InOrderExecutor& executor, NodeSource& source) : executor_(executor), source_(source) {}
    void run() override { executor_.replay(source_); }

   private:
    InOrderExecutor& executor_;
    NodeSource& source_;
  };

  void replay(NodeSource& source) {
    const auto counts = source.predecessorCounts();
    std::vector<std::int32_t> left(counts.begin(), counts.end());
    std::set<std::int32_t> ready;
    std::int64_t unfinished = 0;
    for (std::int32_t n = 0; n < source.nodeCount(); ++n) {
      if (!source.traits(n, 1).used) continue;
      ++unfinished;
      if (left[static_cast<std::size_t>(n)] == 0) ready.insert(n);
    }
    const auto finish = [&](std::int32_t node) {
      --unfinished;
      for (const std::int32_t next : source.successors(node)) {
        if (--left[static_cast<std::size_t>(next)] == 0) ready.insert(next);
      }
    };
    std::int64_t looks = 0;
    auto gotOn = std::chrono::steady_clock::now();
    while (unfinished > 0) {
      if (ready.empty()) {
        const auto start = std::chrono::steady_clock::now();
        const auto done = source.poll();
        for (const std::int32_t node : done) finish(node);
        if (!done.empty()) {
          gotOn = std::chrono::steady_clock::now();
          continue;
        }
        if (stallSeconds_ > 0.0 && std::chrono::duration<double>(start - gotOn).count() > stallSeconds_) {
          const std::string page =
              detail::stallReport(source, detail::standOf(source, left, {}), stallSeconds_);
          throw InternalError(page + source.detectDeadlock(detail::talkLimit(stallSeconds_)));
        }
        if (++looks % kLooksBetweenSteps == 0) stepAside_();
        waitSeconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        continue;
      }
      const std::int32_t node = *ready.begin();
      ready.erase(ready.begin());
      if (source.run(node, 0)) finish(node);
      gotOn = std::chrono::steady_clock::now();
    }
  }

  static constexpr std::int64_t kLooksBetweenSteps = 16;

  const double stallSeconds_;
  StepAside stepAside_;
  double waitSeconds_ = 0.0;
};

}  // namespace

std::unique_ptr<Executor> makeInOrderExecutor(ExecutorOptions options) {
  return std::make_unique<InOrderExecutor>(options.stallSeconds);
}

}  // namespace tessera
