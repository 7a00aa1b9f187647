#include "scheduler/jobs/detail/task_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::jobs::detail {
namespace {

/// First tasks: so many to each slot, if all were as fast.
constexpr double kFirstTasks = 8.0;
/// A task is not cut so short that handing it over takes as long as running it.
constexpr double kShortestTask = 100e-6;
/// The same while the paces of others are not known: there may be many.
constexpr double kShortestOfMany = 1e-3;
/// A task of one thread is no longer than this, or than a 16th of the time that its job has taken so far.
constexpr double kLongestProbe = 2e-3;
/// Where forms are compared, the tasks that decide have so many times the units that a device runs at a time,
/// and all of them together a quarter of what is left at most.
constexpr double kWidthsToCompare = 4.0;

bool allKnown(std::span<const DeviceDemand> devices) {
  return std::ranges::all_of(devices, [](const DeviceDemand& each) { return each.rate > 0.0; });
}

double rateOf(std::span<const DeviceDemand> devices) {
  double sum = 0.0;
  for (const DeviceDemand& each : devices) sum += each.rate;
  return sum;
}

/// Seconds from now to the end of a task of one piece.
double smallestTask(const JobDemand& job, const DeviceDemand& device) {
  const double units =
      static_cast<double>(device.isNarrow ? job.unitsOfPiece : std::max(job.unitsOfPiece, device.width));
  const double turns = 1.0 + static_cast<double>(device.busy / device.workers());
  return turns * units / std::max(device.isNarrow ? device.unitsPerSecond : device.rate, 1e-30);
}

}  // namespace

std::int64_t piecesOf(const JobDemand& job, std::span<const DeviceDemand> devices, std::size_t n) {
  const DeviceDemand& device = devices[n];
  const auto left = static_cast<double>(job.left);
  const auto each = static_cast<double>(job.unitsOfPiece);
  double slots = 0.0;
  for (const DeviceDemand& other : devices) slots += other.slots;
  const bool isMade = device.forms == 1;
  const double first = static_cast<double>(job.pieces) / (slots * kFirstTasks * device.forms);
  const auto piecesIn = [&](double seconds) { return std::floor(device.unitsPerSecond * seconds / each); };
  double size = std::max(std::floor(first), std::min(piecesIn(kShortestOfMany), left / (2.0 * device.slots)));
  if (allKnown(devices)) {
    size = std::ceil(left * device.rate / rateOf(devices) / (2.0 * device.slots));
    size = std::max(size, piecesIn(kShortestTask));
  }
  if (device.isNarrow) {
    size = std::min(size, piecesIn(std::max(kLongestProbe, job.seconds / 16.0)));
  } else if (isMade) {
    size = std::max(size, std::ceil(static_cast<double>(device.width) / each));
  } else if (device.isLastRound) {
    const double wide = std::ceil(kWidthsToCompare * static_cast<double>(device.width) / each);
    size = std::max(size, std::min(wide, std::floor(left / (4.0 * device.forms))));
  }
  return static_cast<std::int64_t>(std::clamp(size, 1.0, std::max(1.0, left)));
}

bool shouldWait(const JobDemand& job, std::span<const DeviceDemand> devices, std::size_t n) {
  const DeviceDemand& device = devices[n];
  if (!device.isNarrow) return device.forms > 1 && device.busy > 0;  // what is compared runs alone
  // One thread finds out what a piece takes: all of them could be inside one when a GPU has done the rest.
  if (device.unitsPerSecond <= 0.0) return devices.size() > 1 && device.busy > 0;
  if (!allKnown(devices)) return false;
  const double mine = smallestTask(job, device);
  const bool isFastest = std::ranges::none_of(
      devices, [&](const DeviceDemand& other) { return smallestTask(job, other) < mine; });
  const auto units = static_cast<double>(job.left * job.unitsOfPiece);
  return !isFastest && mine > units / rateOf(devices);
}

}  // namespace tessera::jobs::detail
