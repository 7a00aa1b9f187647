#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grid/label.hpp"
#include "scheduler/device/backend/emulated_device.hpp"
#include "scheduler/device/lane/device_lane.hpp"

namespace tessera {

/// What kind of device a run uses.
enum class DeviceKind {
  None,      ///< everything runs on the host
  Cuda,      ///< NVIDIA GPUs
  Emulated,  ///< host memory and threads that behave like one; for tests, and where no GPU is
};

/// Where a run with devices runs its tasks, but for those that are named.
enum class DevicePlacement {
  Auto,  ///< on devices what has a body for them, a patch, and fields that it touches; the rest on the host
  Gpu,   ///< the same, and what touches no field
  Cpu,   ///< all on the host
  Cost,  ///< as Auto; the host takes the part of the patches that measured speed gives it
};

/// What the variables of a run lie in on a device.
enum class DeviceMemoryKind {
  Explicit,  ///< the device's own; where the limit is less than they need, they are swapped with the host's
  Managed,   ///< moved by the driver, with hints; the limit is the driver's
};

/// Which devices a rank uses, and how; changes no bit of the result.
struct DeviceOptions {
  DeviceKind kind = DeviceKind::None;
  /// Of this process's GPUs, or what emulated ones are called: one to kDeviceSlots. Own patches are dealt out
  /// to them.
  std::vector<std::int32_t> numbers{0};
  LaneOptions lane{};
  DevicePlacement placement = DevicePlacement::Auto;
  std::vector<std::string> cpuTasks;  ///< names of tasks that run on the host whatever `placement` says
  std::vector<std::string> gpuTasks;  ///< and on devices; each has a body for them
  std::int64_t limitBytes = 0;        ///< of memory on each device; 0: `limitPart` of what it has
  double limitPart = 0.9;
  /// For launches, on each device and pinned on the host: tables and scratch fields. More scratch fields come
  /// out of what the variables leave of the limit; where neither has room, fewer tasks are launched at a
  /// time.
  std::int64_t launchBytes = std::int64_t{1} << 30;
  DeviceMemoryKind memory = DeviceMemoryKind::Explicit;
  EmulatedOptions emulated{};
  /// Variables that have memory on devices whatever tasks do: those of what works there between plans.
  std::vector<LabelId> alsoHas{};
  /// Record the device's part of a step once and replay it as one graph of the device, where the host has no
  /// part in the middle of it (scheduler/graph_replay/graph_replay.hpp). Bodies of tasks must depend on their
  /// task alone.
  bool graphs = false;
  /// A thread of its own that serves a lane which nobody has served for a while, since all workers are inside
  /// long tasks. Off for executors of one thread, whose order it would change.
  bool standbyThread = true;
};

}  // namespace tessera
