#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "scheduler/device/lane/device_span.hpp"

namespace tessera::detail {

/// Turns what devices did into events: a lane for each stream with its launches, and one for each device with
/// the times when no stream was at work. Goes through all parts of a trace, one after another.
class DeviceEvents {
 public:
  explicit DeviceEvents(int rank) : rank_(rank) {}

  /// Appends the events to `text`, in the order of their times within each lane. The numbers of the lanes
  /// that they use go to `lanes`. `spans`: as TraceRecords has them.
  void append(std::span<const DeviceSpan> spans, std::string& text, std::set<std::int32_t>& lanes);

 private:
  struct Device {
    std::int64_t busyUntil = 0;
    std::int64_t run = 0;  ///< the newest that has launched something
  };

  void appendIdle(const DeviceSpan& next, std::string& text) const;
  void appendLaunch(const DeviceSpan& span, std::string& text) const;

  int rank_;
  std::map<std::int32_t, Device> devices_;
};

/// "device 0", "device 0 stream 3": the name of a lane from TraceLane::Devices on.
std::string deviceLaneName(std::int32_t lane);

}  // namespace tessera::detail
