#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

/// Whether this program was built with CUDA (preset cuda).
bool builtWithCuda();

/// How many GPUs this process can use: 0 in a build without CUDA, without a driver, and without a GPU. Throws
/// DeviceFault::DriverTooOld where the driver is older than the CUDA of this build.
std::int32_t cudaDeviceCount();

/// "0000:0f:00.0", without making a context; empty where there is no such GPU.
std::string cudaPciAddress(std::int32_t number);

/// GPU `number` of this process. All objects for one GPU share its one context. Throws DeviceFault::NoDevice
/// where it is not there, and says whether it is the build, the driver or the GPU that is missing.
std::unique_ptr<DeviceBackend> makeCudaDevice(std::int32_t number);

}  // namespace tessera
