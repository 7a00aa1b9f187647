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

/// The devices of one rank, the `place`-th of the `ranks` on its host, as dealDevices deals them where all
/// are as near: GPUs of its own, neighbours in the list, where there are as many as ranks or more; else ranks
/// take them in turns. Throws DeviceError where there is no GPU.
DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place, std::int32_t ranks);
/// The same with `distances` of all ranks of the host, in their order, each as `distancesTo` tells.
DeviceOptions devicesOf(const DeviceChoice& choice, std::int32_t place,
                        const std::vector<std::vector<int>>& distances);
/// How far the GPUs of the choice are from these cores, DeviceNearness::distance; no cores: all that this
/// rank may use. Empty where the choice has no GPU. Makes no context on a GPU.
std::vector<int> distancesTo(const DeviceChoice& choice, const std::vector<int>& cores);

}  // namespace tessera
