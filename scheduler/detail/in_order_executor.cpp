#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "scheduler/executor.hpp"

namespace tessera {
namespace {

/// Runs every node whose predecessors have finished, lowest number first; looks after messages when there is
/// none.
class InOrderExecutor : public Executor {
 public:
  int threads() const override { return 1; }
  double waitSeconds() const override { return waitSeconds_; }

  void execute(NodeSource& source) override {
    const auto counts = source.predecessorCounts();
    std::vector<std::int32_t> left(counts.begin(), counts.end());
    std::set<std::int32_t> ready;
    for (std::size_t n = 0; n < left.size(); ++n) {
      if (left[n] == 0) ready.insert(static_cast<std::int32_t>(n));
    }
    std::int64_t unfinished = std::count_if(left.begin(), left.end(), [](std::int32_t n) { return n >= 0; });
    const auto finish = [&](std::int32_t node) {
      --unfinished;
      for (const std::int32_t next : source.successors(node)) {
        if (--left[static_cast<std::size_t>(next)] == 0) ready.insert(next);
      }
    };
    while (unfinished > 0) {
      if (ready.empty()) {
        const auto start = std::chrono::steady_clock::now();
        const std::int64_t before = unfinished;
        source.poll(finish);
        if (unfinished < before) continue;
        std::this_thread::yield();
        waitSeconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        continue;
      }
      const std::int32_t node = *ready.begin();
      ready.erase(ready.begin());
      if (source.run(node)) finish(node);
    }
  }

 private:
  double waitSeconds_ = 0.0;
};

}  // namespace

std::unique_ptr<Executor> makeInOrderExecutor() { return std::make_unique<InOrderExecutor>(); }

}  // namespace tessera
