#pragma once

#include <string>
#include <string_view>

#include "scheduler/device/device_options.hpp"

namespace tessera {

/// What --device asks for: "none"; "cuda", a GPU for each rank of a host, in turns; "cuda:0,2", the same with
/// these alone; "emulated". Throws UsageError with a fix.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::None;
  std::vector<std::int32_t> numbers;  ///< of GPUs; empty: all of this process
};
DeviceChoice parseDeviceChoice(const std::string& text);

/// The devices of one rank, the `place`-th of those on its host. Throws DeviceError where there is no GPU.
DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place);

/// "device 0 (NVIDIA H200, 0000:0f:00.0), 132 multiprocessors, 139 GiB", one line each, as a run announces
/// them.
std::string asText(const std::vector<DeviceInfo>& devices);

}  // namespace tessera
