#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

std::string asText(const DeviceInfo& info) {
  std::string text = "device " + std::to_string(info.number) + " (" + info.name;
  if (!info.pciAddress.empty()) text += ", " + info.pciAddress;
  return text + ")";
}

}  // namespace tessera
