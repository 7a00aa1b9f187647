#include "scheduler/device_step/kernel_error_board.hpp"

#include "core/exec/kernel_errors.hpp"

namespace tessera::detail {

KernelErrorBoard::KernelErrorBoard(DeviceBackend& backend) : device(backend) {
  raised = static_cast<std::int32_t*>(device.allocate(DeviceSpace::PinnedHost, sizeof(std::int32_t)));
  *raised = 0;
  nowhere = static_cast<std::byte*>(device.allocate(DeviceSpace::Device, KernelErrors::kNowhereBytes));
}

KernelErrorBoard::~KernelErrorBoard() {
  device.release(DeviceSpace::PinnedHost, raised);
  device.release(DeviceSpace::Device, nowhere);
}

}  // namespace tessera::detail
