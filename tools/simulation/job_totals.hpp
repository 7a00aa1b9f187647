#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/simulation/simulation.hpp"

namespace tessera {

/// What all ranks of a job did and hold, since they started.
struct JobTotals {
  std::int64_t workers = 0;  ///< threads of all ranks
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
  double taskSeconds = 0.0;            ///< in tasks, all workers together
  double waitSeconds = 0.0;            ///< workers without anything to run, all together
  double messageSeconds = 0.0;         ///< packing, filling halos, joining, all workers together
  double outputSeconds = 0.0;          ///< writing fields and checkpoints, a rank each
  std::int64_t residentBytes = 0;      ///< memory of the processes at the moment
  std::int64_t fieldBytes = 0;         ///< memory for fields
  std::int64_t largestFieldBytes = 0;  ///< that of the rank with most of them
};

/// Memory for fields as the compiled graphs of all ranks ask for it.
struct PlannedMemory {
  std::int64_t bytes = 0;
  std::int64_t withoutReuse = 0;  ///< where no two variables shared memory
  double overDistinct = 1.0;      ///< bytes of windows over those of distinct indices
};

/// What variables take on the devices of all ranks.
struct DeviceTotals {
  std::int64_t bytes = 0;
  double overDistinct = 1.0;         ///< bytes over those of distinct indices, of all together
  double largestOverDistinct = 1.0;  ///< of the device where it is largest
  DevicePagingCounts paging;         ///< of all together
};

/// Adds up what `totalsOf` tells, but for the rank with most memory, while the run goes on:
///
///   sums.start(simulation, outputSeconds);   // what this rank has done until now; all ranks call it
///   ...                                      // steps
///   const JobTotals totals = sums.finish(simulation);
///
/// Both calls between steps; one sum at a time.
class RunningSums {
 public:
  void start(const Simulation& simulation, double outputSeconds);
  /// Waits for what is under way.
  JobTotals finish(const Simulation& simulation);

 private:
  std::array<std::int64_t, 10> sums_{};
  Transport::Request request_ = 0;
};

/// The sums over the ranks, the same on each of them; exact, in nanoseconds. All ranks call it, never inside
/// a step. `outputSeconds`: what this rank has spent on output.
JobTotals totalsOf(const Simulation& simulation, double outputSeconds = 0.0);
/// Seconds in tasks on the patches of each level, all workers of all ranks together.
std::vector<double> levelSecondsOf(const Simulation& simulation);
/// The same for what was planned; takes time that grows with the patches.
PlannedMemory plannedMemoryOf(const Simulation& simulation);
/// The same for devices; nothing where none are in use.
std::optional<DeviceTotals> deviceTotalsOf(const Simulation& simulation);

}  // namespace tessera
