#include "scheduler/device_step/finding_board.hpp"

#include "core/exec/device_findings.hpp"

namespace tessera::detail {

FindingBoard::FindingBoard(DeviceBackend& backend) : device(backend) {
  raised = static_cast<std::int32_t*>(device.allocate(DeviceSpace::PinnedHost, sizeof(std::int32_t)));
  *raised = 0;
  nowhere = static_cast<std::byte*>(device.allocate(DeviceSpace::Device, DeviceFindings::kNowhereBytes));
}

FindingBoard::~FindingBoard() {
  device.release(DeviceSpace::PinnedHost, raised);
  device.release(DeviceSpace::Device, nowhere);
}

}  // namespace tessera::detail
