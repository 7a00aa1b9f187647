#pragma once

#include <string>
#include <string_view>

#include "scheduler/device/device_options.hpp"

namespace tessera {

/// What --device asks for: "none"; "cuda", all GPUs of a host, shared by its ranks; "cuda:0,2", the same with
/// these alone; "emulated" or "emulated:3", one or so many for each rank. Throws UsageError with a fix.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::None;
  std::vector<std::int32_t> numbers;  ///< of devices; empty: all GPUs of this process, or one emulated device
};
DeviceChoice parseDeviceChoice(const std::string& text);

/// The devices of one rank, the `place`-th of the `ranks` on its host. Where there are as many GPUs as ranks
/// or more, each rank has GPUs of its own, neighbours in the list; else ranks take them in turns. Throws
/// DeviceError where there is no GPU.
DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place, std::int32_t ranks);

/// "device 0 (NVIDIA H200, 0000:0f:00.0), 132 multiprocessors, 139 GiB", one line each, as a run announces
/// them.
std::string asText(const std::vector<DeviceInfo>& devices);

}  // namespace tessera
