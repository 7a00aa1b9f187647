#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tessera/trace/trace_model.hpp"

namespace tessera {

/// The time of one device, from its first launch to the end of its last one; nanoseconds. The four parts add
/// up to all of it.
struct DeviceRow {
  int rank = 0;
  int device = 0;
  std::int64_t busy = 0;           ///< at least one stream was at work
  std::int64_t idleInSteps = 0;    ///< between launches of one step
  std::int64_t idleBetween = 0;    ///< from the end of a step's work to the begin of the next one's
  std::int64_t idleForOutput = 0;  ///< meanwhile the rank wrote, or did something else beside the steps

  std::int64_t total() const { return busy + idleInSteps + idleBetween + idleForOutput; }
};

/// All launches of one name and kind, of all devices; nanoseconds. Launches over several streams count once,
/// with the time of all of them.
struct LaunchRow {
  std::string name;
  std::string kind;  ///< "kernel", "copy", "fill" or "pack"
  std::int64_t launches = 0;
  std::int64_t tasks = 0;  ///< nodes of the graph
  std::int64_t total = 0;
  std::int64_t bytes = 0;  ///< carried from one place to another, where that was counted
};

/// What a trace says about devices; both empty where none was used.
struct DeviceSummary {
  std::vector<DeviceRow> devices;   ///< by rank and device
  std::vector<LaunchRow> launches;  ///< by total time
};

DeviceSummary summariseDevices(const TraceModel& trace);

}  // namespace tessera
