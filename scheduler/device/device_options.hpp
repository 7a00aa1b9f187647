#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/device/device_lane.hpp"
#include "scheduler/device/emulated_device.hpp"

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

/// How memory of variables on a device is taken.
enum class DeviceMemoryKind {
  Explicit,  ///< from the device, and copied to and from as the plan says
  Managed,   ///< by the driver, which moves pages as they are touched
};

/// Which device a rank uses, and how; changes no bit of the result.
struct DeviceOptions {
  DeviceKind kind = DeviceKind::None;
  std::vector<std::int32_t> numbers{0};  ///< of this process's GPUs; one, for now
  LaneOptions lane{};
  DevicePlacement placement = DevicePlacement::Auto;
  std::vector<std::string> cpuTasks;  ///< names of tasks that run on the host whatever `placement` says
  std::vector<std::string> gpuTasks;  ///< and on devices; each has a body for them
  DeviceMemoryKind memory = DeviceMemoryKind::Explicit;
  std::int64_t limitBytes = 0;  ///< of memory on each device; 0: `limitPart` of what it has
  double limitPart = 0.9;
  bool privateCopies = false;  ///< large halos of patches do not share memory; for comparisons
  bool graphs = false;         ///< what is on devices of a step is recorded once and replayed
  EmulatedOptions emulated{};
  /// A thread of its own that serves a lane which nobody has served for a while, since all workers are inside
  /// long tasks. Off for executors of one thread, whose order it would change.
  bool standbyThread = true;
};

}  // namespace tessera
