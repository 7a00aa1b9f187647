#include "tools/tessera/job_totals.hpp"

#include <array>
#include <cmath>

#include "core/resident_memory.hpp"
#include "taskgraph/memory_plan.hpp"
#include "taskgraph/stored_windows.hpp"
#include "tools/tessera/agreement.hpp"

namespace tessera {
namespace {

constexpr double kNanosecondsInOne = 1e9;

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * kNanosecondsInOne); }

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / kNanosecondsInOne; }

}  // namespace

JobTotals totalsOf(const Simulation& simulation, double outputSeconds) {
  const StepStatistics& own = simulation.statistics();
  const std::int64_t bytes = simulation.data().allocatedBytes();
  std::array<std::int64_t, 10> sums{simulation.threads(),
                                    own.tasks,
                                    own.messages,
                                    own.messageBytes,
                                    nanoseconds(own.taskSeconds),
                                    nanoseconds(own.waitSeconds),
                                    nanoseconds(own.messageSeconds),
                                    nanoseconds(outputSeconds),
                                    residentBytes(),
                                    bytes};
  Transport& transport = simulation.transport();
  transport.wait(transport.allReduceSum(sums));
  JobTotals totals;
  totals.workers = sums[0];
  totals.tasks = sums[1];
  totals.messages = sums[2];
  totals.messageBytes = sums[3];
  totals.taskSeconds = seconds(sums[4]);
  totals.waitSeconds = seconds(sums[5]);
  totals.messageSeconds = seconds(sums[6]);
  totals.outputSeconds = seconds(sums[7]);
  totals.residentBytes = sums[8];
  totals.fieldBytes = sums[9];
  totals.largestFieldBytes = static_cast<std::int64_t>(largestOf(transport, static_cast<double>(bytes)));
  return totals;
}

PlannedMemory plannedMemoryOf(const Simulation& simulation) {
  const MemoryPlan plan = memoryPlanOf(simulation.graphs());
  const StoredWindows windows = sumOf(storedWindows(simulation.graphs()));
  std::array<std::int64_t, 4> sums{plan.total(), plan.totalWithoutReuse(), windows.bytes,
                                   windows.distinctBytes};
  Transport& transport = simulation.transport();
  transport.wait(transport.allReduceSum(sums));
  PlannedMemory planned{sums[0], sums[1]};
  if (sums[3] > 0) planned.overDistinct = static_cast<double>(sums[2]) / static_cast<double>(sums[3]);
  return planned;
}

}  // namespace tessera
