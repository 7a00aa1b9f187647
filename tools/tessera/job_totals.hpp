#pragma once

#include <cstdint>

#include "tools/tessera/simulation.hpp"

namespace tessera {

/// What all ranks of a job did and hold, since they started.
struct JobTotals {
  std::int64_t workers = 0;  ///< threads of all ranks
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
  double taskSeconds = 0.0;              ///< inside task bodies, all workers together
  double waitSeconds = 0.0;              ///< workers without anything to run, all together
  std::int64_t fieldBytes = 0;           ///< memory for fields
  std::int64_t plannedBytes = 0;         ///< the same, as the compiled graphs ask for it
  std::int64_t plannedWithoutReuse = 0;  ///< where no two variables shared memory
  double overDistinct = 1.0;             ///< bytes of windows over those of distinct indices
  std::int64_t largestFieldBytes = 0;    ///< that of the rank with most of them
};

/// The sums over the ranks, the same on each of them; exact, in nanoseconds. All ranks call it, never inside
/// a step.
JobTotals totalsOf(const Simulation& simulation);

}  // namespace tessera
