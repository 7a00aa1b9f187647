#pragma once

#include <string>
#include <string_view>

#include "core/text/error.hpp"

namespace tessera {

/// What went wrong with a device, as far as it decides what a person can do about it.
enum class DeviceFault {
  NoDevice,      ///< none here, none visible to this process, or a build without CUDA
  DriverTooOld,  ///< the driver is older than the CUDA that this program was built with
  OutOfMemory,   ///< device or pinned host memory
  Lost,          ///< the device fell off the bus, or was reset
  Failed,        ///< all else: a kernel that touched memory it must not, a launch that was refused
};

/// Every failure of a device. The program ends with exit code 6.
struct DeviceError : ErrorClass<DeviceError> {
  DeviceError(DeviceFault what, std::string text)
      : ErrorClass(ErrorKind::Internal, std::move(text)), fault(what) {}
  DeviceFault fault;
};

/// What was going on when a device failed; empty parts are left out of the message.
struct DeviceFailure {
  DeviceFault fault = DeviceFault::Failed;
  std::string device;    ///< "device 0 (NVIDIA H200, 0000:0f:00.0)"
  std::string reason;    ///< the words of the runtime
  std::string call;      ///< what was called
  std::string launched;  ///< what was launched last and may not have finished, stream by stream
};

/// The sentence with a fix, as an error to throw.
DeviceError deviceError(const DeviceFailure& failure);

/// No more than so many bytes could be had, in the words of a pool or a backend.
DeviceError outOfDeviceMemory(std::string_view device, std::string_view owner, std::int64_t wanted,
                              std::int64_t inUse, std::int64_t limit);

}  // namespace tessera
