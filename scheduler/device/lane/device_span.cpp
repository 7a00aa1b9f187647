#include "scheduler/device/lane/device_span.hpp"

namespace tessera {

std::string_view asText(DeviceWork work) {
  switch (work) {
    case DeviceWork::Kernel:
      return "kernel";
    case DeviceWork::Copy:
      return "copy";
    case DeviceWork::Fill:
      return "fill";
    case DeviceWork::Pack:
      return "pack";
  }
  return "";
}

}  // namespace tessera
