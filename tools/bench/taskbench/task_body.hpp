#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/replay/replay_graph.hpp"
#include "tools/bench/replay/task_call.hpp"

namespace tessera::bench {

enum class KernelKind {
  Empty,       ///< nothing
  Compute,     ///< an iteration is a multiply and an add on each of 16 numbers
  Memory,      ///< an iteration reads and writes 256 bytes of a scratch that later tasks go on through
  Imbalanced,  ///< compute, with iterations that differ from task to task
  Spin,        ///< an iteration is a nanosecond of looking at the clock
};

struct Kernel {
  KernelKind kind = KernelKind::Compute;
  std::int64_t iterations = 0;
  /// Of `Imbalanced`: iterations are spread evenly over (1 - imbalance / 2) .. (1 + imbalance / 2) times
  /// `iterations`, by a hash of the task. 0 .. 2.
  double imbalance = 1.0;
  std::int64_t scratchBytes = std::int64_t{256} << 10;  ///< of `Memory`, for each slot
};

/// "empty", "compute", "memory", "imbalanced": those of the command line. Throws UsageError for any other.
KernelKind kernelOf(std::string_view name);
/// Throws UsageError with what to change.
void expectValid(const Kernel& kernel);

/// What the tasks of a graph do. With `check` each leaves its step and column in its slot, after it has
/// looked for those of all its inputs, and for those of whoever had the slot before; in plain memory, so that
/// a missing edge is a wrong number, and a race under ThreadSanitizer.
///
/// `run` is called by many threads at once, in an order that the graph allows; the rest between replays.
class TaskBody {
 public:
  /// `graph` outlives the body.
  TaskBody(const ReplayGraph& graph, const Kernel& kernel, bool check);

  void setIterations(std::int64_t iterations);
  /// Iterations of all tasks of a replay.
  double work() const { return work_; }

  /// Before each replay.
  void reset();
  void run(std::int32_t node) {
    if (kernel_.kind != KernelKind::Empty) runKernel(node);
    if (check_) checkAndStamp(node);
  }
  /// After a replay: what went wrong first, empty where nothing did or nothing was checked.
  std::string fault() const;

  TaskCall call();

 private:
  struct Stamp {
    int step = -1;
    int column = -1;
    bool operator==(const Stamp&) const = default;
  };
  /// On a cache line of its own: slots beside each other belong to different threads.
  struct alignas(64) Slot {
    Stamp stamp;
    std::int64_t runs = 0;
    std::int32_t wrongNode = -1;  ///< the first that found `found` where `wanted` should be
    Stamp wanted;
    Stamp found;
  };
  struct alignas(64) Numbers {
    double values[16];
  };

  void runKernel(std::int32_t node);
  void compute(Numbers& numbers, std::int64_t iterations) const;
  void stream(std::int32_t slot, std::int64_t iterations);
  void checkAndStamp(std::int32_t node);
  Stamp stampOf(std::int32_t node) const;

  const ReplayGraph& graph_;
  Kernel kernel_;
  bool check_;
  double work_ = 0.0;
  std::vector<std::int64_t> iterationsOf_;  ///< by node, where they differ
  std::vector<Numbers> numbers_;            ///< by slot
  std::vector<double> scratch_;             ///< slot by slot
  std::vector<std::int64_t> scratchAt_;     ///< by slot: the block that is next
  std::vector<Slot> slots_;
  std::vector<Stamp> before_;  ///< by node: what its slot holds when it starts
  std::vector<Stamp> last_;    ///< by slot: what it holds in the end
};

}  // namespace tessera::bench
