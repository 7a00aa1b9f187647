#include "tools/tessera/job_totals.hpp"

#include <array>
#include <cmath>

#include "taskgraph/memory_plan.hpp"
#include "taskgraph/stored_windows.hpp"
#include "tools/tessera/agreement.hpp"

namespace tessera {
namespace {

constexpr double kNanosecondsInOne = 1e9;

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * kNanosecondsInOne); }

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / kNanosecondsInOne; }

}  // namespace

JobTotals totalsOf(const Simulation& simulation) {
  const StepStatistics& own = simulation.statistics();
  const MemoryPlan planned = memoryPlanOf(simulation.graphs());
  const StoredWindows windows = sumOf(storedWindows(simulation.graphs()));
  const std::int64_t bytes = simulation.data().allocatedBytes();
  std::array<std::int64_t, 11> sums{simulation.threads(),
                                    own.tasks,
                                    own.messages,
                                    own.messageBytes,
                                    nanoseconds(own.taskSeconds),
                                    nanoseconds(own.waitSeconds),
                                    bytes,
                                    planned.total(),
                                    planned.totalWithoutReuse(),
                                    windows.bytes,
                                    windows.distinctBytes};
  Transport& transport = simulation.transport();
  transport.wait(transport.allReduceSum(sums));
  JobTotals totals;
  totals.workers = sums[0];
  totals.tasks = sums[1];
  totals.messages = sums[2];
  totals.messageBytes = sums[3];
  totals.taskSeconds = seconds(sums[4]);
  totals.waitSeconds = seconds(sums[5]);
  totals.fieldBytes = sums[6];
  totals.plannedBytes = sums[7];
  totals.plannedWithoutReuse = sums[8];
  if (sums[10] > 0) totals.overDistinct = static_cast<double>(sums[9]) / static_cast<double>(sums[10]);
  totals.largestFieldBytes = static_cast<std::int64_t>(largestOf(transport, static_cast<double>(bytes)));
  return totals;
}

}  // namespace tessera
