#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.hpp"

namespace tessera {

/// What a planned fault does to the operation it meets.
enum class FaultEffect : std::uint8_t {
  None,        ///< the operation goes on
  Fail,        ///< the operation is not made and reports `Fault::error` (an errno value)
  ShortWrite,  ///< a write moves about half of its bytes; other operations go on
  Throw,       ///< FaultInjected is thrown from the fault point
  Exit,        ///< the process ends at once through _exit(`Fault::error`), nothing is flushed
};

/// One planned fault: at the `occurrence`-th time (1 = the first) that `point` is reached.
struct Fault {
  std::string point;            ///< exact name, for example "checkpoint.fsync"; empty = any point
  std::int64_t occurrence = 1;  ///< counted over the points that `point` matches
  FaultEffect effect = FaultEffect::Fail;
  int error = 5;  ///< errno for Fail (5 is EIO), exit code for Exit
};

/// Thrown by a fault of effect Throw; never seen outside of tests.
struct FaultInjected : InternalError {
  explicit FaultInjected(std::string_view point)
      : InternalError("a fault was injected at '" + std::string(point) + "' because a test asked for it") {}
};

/// The faults that a test wants, handed by pointer to the code that has fault points (null = none):
///
///   FaultPlan plan;
///   plan.add({.point = "checkpoint.fsync", .occurrence = 2, .effect = FaultEffect::Fail});
///   CheckpointWriter writer(transport, {.folder = "checkpoints", .faults = &plan});
///
/// Thread rule: `hit` may be called from any thread; occurrences are counted in the order of the calls.
class FaultPlan {
 public:
  /// What the caller of `hit` must do: nothing (None), report `error` (Fail), or write less (ShortWrite).
  struct Outcome {
    FaultEffect effect = FaultEffect::None;
    int error = 0;
  };

  FaultPlan& add(Fault fault);
  /// Called right before the operation named `point`. Ends the process or throws when so planned.
  Outcome hit(std::string_view point);
  /// How many points were reached so far.
  std::int64_t hits() const;

 private:
  struct Planned {
    Fault fault;
    std::int64_t seen = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Planned> planned_;
  std::int64_t hits_ = 0;
};

}  // namespace tessera
