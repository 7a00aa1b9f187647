#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// What a launch on a device does.
enum class DeviceWork : std::uint8_t {
  Kernel,  ///< tasks
  Copy,    ///< values between the host and the device
  Fill,    ///< halos
  Pack,    ///< parts of messages
};

/// One word for the trace: "kernel", "copy", "fill", "pack".
std::string_view asText(DeviceWork work);

/// A launch, as a trace tells it.
struct LaunchNote {
  std::string_view name;  ///< of the task, "halo of Old temperature"; lives as long as the trace
  DeviceWork work = DeviceWork::Kernel;
  std::int64_t tasks = 0;  ///< nodes of the graph that it does
  std::int64_t bytes = 0;  ///< that it carries from one place to another; 0: nobody counted
  std::int32_t part = 0;   ///< of a launch over several streams, counted from 0: part 0 stands for the launch
  std::int32_t worker = -1;  ///< that launched it; -1: not known
};

/// A launch on a device: from the moment when its stream came to it, until it was done. Nanoseconds of the
/// trace's clock.
struct DeviceSpan {
  LaunchNote what;
  std::int32_t device = 0;      ///< number of the device among those of the process
  std::int32_t stream = 0;      ///< of the device
  std::int64_t run = -1;        ///< TracedStep::run of the step that launched it, or of the last one before
  std::int64_t launchedAt = 0;  ///< the host was about to
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

}  // namespace tessera
