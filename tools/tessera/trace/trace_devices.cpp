#include "tools/tessera/trace/trace_devices.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tessera {
namespace {

/// How much of the time from `from` to `to` lies inside `spans`, which are sorted by begin; what lies inside
/// another counts once.
std::int64_t inside(const std::vector<TracedSpan>& spans, std::int64_t from, std::int64_t to) {
  std::int64_t sum = 0;
  for (const TracedSpan& span : spans) {
    const std::int64_t begin = std::max(span.begin, from);
    const std::int64_t end = std::min(span.end, to);
    if (end <= begin) continue;
    sum += end - begin;
    from = end;
  }
  return sum;
}

/// Goes through the launches of one device in the order of time.
class DeviceWalk {
 public:
  DeviceWalk(DeviceRow& row, const std::vector<TracedSpan>& output) : row_(row), output_(output) {}

  void pass(const TracedLaunch& launch) {
    if (!begun_) {
      begun_ = true;
      busyUntil_ = launch.begin;
      run_ = launch.run;
    }
    if (launch.begin > busyUntil_) addIdle(launch);
    row_.busy += std::max<std::int64_t>(0, launch.end - std::max(launch.begin, busyUntil_));
    busyUntil_ = std::max(busyUntil_, launch.end);
    run_ = std::max(run_, launch.run);
  }

 private:
  void addIdle(const TracedLaunch& next) {
    const std::int64_t writing = inside(output_, busyUntil_, next.begin);
    row_.idleForOutput += writing;
    (next.run > run_ ? row_.idleBetween : row_.idleInSteps) += next.begin - busyUntil_ - writing;
  }

  DeviceRow& row_;
  const std::vector<TracedSpan>& output_;
  bool begun_ = false;
  std::int64_t busyUntil_ = 0;
  std::int64_t run_ = 0;  ///< the newest that has launched something
};

void addDevices(int number, const TracedRank& rank, std::vector<DeviceRow>& rows) {
  std::map<int, std::vector<const TracedLaunch*>> byDevice;
  for (const TracedLaunch& launch : rank.launches) byDevice[launch.device].push_back(&launch);
  for (auto& [device, launches] : byDevice) {
    std::stable_sort(launches.begin(), launches.end(),
                     [](const auto* a, const auto* b) { return a->begin < b->begin; });
    DeviceRow& row = rows.emplace_back();
    row.rank = number;
    row.device = device;
    DeviceWalk walk(row, rank.spans);
    for (const TracedLaunch* launch : launches) walk.pass(*launch);
  }
}

}  // namespace

DeviceSummary summariseDevices(const TraceModel& trace) {
  DeviceSummary summary;
  std::map<std::pair<std::string, std::string>, LaunchRow> byName;
  for (const auto& [number, rank] : trace.ranks) {
    addDevices(number, rank, summary.devices);
    for (const TracedLaunch& launch : rank.launches) {
      LaunchRow& row = byName[{launch.name, launch.kind}];
      row.total += launch.end - launch.begin;
      row.bytes += launch.bytes;
      if (launch.part > 0) continue;
      ++row.launches;
      row.tasks += launch.tasks;
    }
  }
  for (auto& [name, row] : byName) {
    std::tie(row.name, row.kind) = name;
    summary.launches.push_back(std::move(row));
  }
  std::stable_sort(summary.launches.begin(), summary.launches.end(),
                   [](const LaunchRow& a, const LaunchRow& b) { return a.total > b.total; });
  return summary;
}

}  // namespace tessera
