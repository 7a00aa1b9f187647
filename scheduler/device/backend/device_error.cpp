#include "scheduler/device/backend/device_error.hpp"

namespace tessera {

namespace {

const char* fixFor(DeviceFault fault) {
  switch (fault) {
    case DeviceFault::NoDevice:
      return "run without --device cuda, or make a GPU visible to this process (nvidia-smi, "
             "CUDA_VISIBLE_DEVICES)";
    case DeviceFault::DriverTooOld:
      return "update the GPU's driver, or build with an older CUDA";
    case DeviceFault::OutOfMemory:
      return "use more GPUs, smaller patches or fewer of them, or a larger device.limit if the device has "
             "more";
    case DeviceFault::Lost:
      return "look at the system's log (dmesg, nvidia-smi), then restart from the last checkpoint";
    case DeviceFault::Failed:
      break;
  }
  return "run the task named here in checked mode, or the program under compute-sanitizer";
}

}  // namespace

DeviceError deviceError(const DeviceFailure& failure) {
  Message message(failure.device + ": " + failure.reason);
  if (!failure.call.empty()) message.line("call      ", failure.call);
  if (!failure.launched.empty()) message.line("launched  ", failure.launched);
  message.line("fix       ", fixFor(failure.fault));
  return {failure.fault, message.text()};
}

DeviceError outOfDeviceMemory(std::string_view device, std::string_view owner, std::int64_t wanted,
                              std::int64_t inUse, std::int64_t limit) {
  Message message(std::string(device) + ": its memory is used up");
  message.line("wanted    ", wanted, " bytes for ", owner)
      .line("in use    ", inUse, " of ", limit, " bytes")
      .line("fix       ", fixFor(DeviceFault::OutOfMemory));
  return {DeviceFault::OutOfMemory, message.text()};
}

}  // namespace tessera
