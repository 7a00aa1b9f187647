#include "tools/simulation/job_totals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/profile/resident_memory.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "taskgraph/storage/stored_windows.hpp"
#include "tools/simulation/agreement.hpp"

namespace tessera {
namespace {

constexpr double kNanosecondsInOne = 1e9;

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * kNanosecondsInOne); }

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / kNanosecondsInOne; }

}  // namespace

void RunningSums::start(const Simulation& simulation, double outputSeconds) {
  const StepStatistics& own = simulation.statistics();
  sums_ = {simulation.threads(),
           own.tasks,
           own.messages,
           own.messageBytes,
           nanoseconds(own.taskSeconds),
           nanoseconds(own.waitSeconds),
           nanoseconds(own.messageSeconds),
           nanoseconds(outputSeconds),
           residentBytes(),
           simulation.data().allocatedBytes()};
  request_ = simulation.transport().allReduceSum(sums_);
}

JobTotals RunningSums::finish(const Simulation& simulation) {
  simulation.transport().wait(request_);
  JobTotals totals;
  totals.workers = sums_[0];
  totals.tasks = sums_[1];
  totals.messages = sums_[2];
  totals.messageBytes = sums_[3];
  totals.taskSeconds = seconds(sums_[4]);
  totals.waitSeconds = seconds(sums_[5]);
  totals.messageSeconds = seconds(sums_[6]);
  totals.outputSeconds = seconds(sums_[7]);
  totals.residentBytes = sums_[8];
  totals.fieldBytes = sums_[9];
  return totals;
}

JobTotals totalsOf(const Simulation& simulation, double outputSeconds) {
  RunningSums sums;
  sums.start(simulation, outputSeconds);
  JobTotals totals = sums.finish(simulation);
  const auto bytes = static_cast<double>(simulation.data().allocatedBytes());
  totals.largestFieldBytes = static_cast<std::int64_t>(largestOf(simulation.transport(), bytes));
  return totals;
}

std::vector<double> levelSecondsOf(const Simulation& simulation) {
  std::vector<std::int64_t> sums;
  for (const double own : simulation.levelSeconds()) sums.push_back(nanoseconds(own));
  simulation.transport().wait(simulation.transport().allReduceSum(sums));
  std::vector<double> all;
  for (const std::int64_t sum : sums) all.push_back(seconds(sum));
  return all;
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

std::optional<DeviceTotals> deviceTotalsOf(const Simulation& simulation) {
  // All ranks use devices, or none does.
  if (simulation.devices().empty()) return std::nullopt;
  const DevicePagingCounts own = simulation.devicePaging();
  std::array<std::int64_t, 8> sums{
      0, 0, own.neededBytes, own.limitBytes, own.evictions, own.dropped, own.bytesOut, own.bytesIn};
  double most = 0.0;
  for (const DeviceMemoryUse& use : simulation.deviceMemory()) {
    sums[0] += use.bytes;
    sums[1] += use.distinctBytes;
    most = std::max(most, use.overDistinct());
  }
  Transport& transport = simulation.transport();
  transport.wait(transport.allReduceSum(sums));
  const DeviceMemoryUse all{sums[0], sums[1]};
  const DevicePagingCounts paging{sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], 0};
  return DeviceTotals{all.bytes, all.overDistinct(), largestOf(transport, most), paging};
}

}  // namespace tessera
