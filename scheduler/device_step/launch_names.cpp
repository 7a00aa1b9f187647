#include "scheduler/device_step/launch_names.hpp"

namespace tessera::detail {

std::string copyName(const LabelTable& labels, Generation generation, LabelId label,
                     CopyDirection direction) {
  const std::string value =
      (generation == Generation::Old ? "Old " : "New ") + labels.info(label).name + " to the ";
  return value + (direction == CopyDirection::DeviceToHost ? "host" : "device");
}

LaunchName launchName(const WorkNames& names, const LabelTable& labels, const CompiledGraph& graph,
                      const PlacedBlock& block) {
  const NodeBlock& original = graph.blocks[static_cast<std::size_t>(block.block)];
  switch (block.kind) {
    case PlacedKind::Pack:
      return {"pack", DeviceWork::Pack};
    case PlacedKind::CopyIn:
      return {copyName(labels, Generation::New, block.label, CopyDirection::HostToDevice), DeviceWork::Copy};
    case PlacedKind::CopyOut:
      return {copyName(labels, Generation::New, block.label, CopyDirection::DeviceToHost), DeviceWork::Copy};
    case PlacedKind::Original:
    case PlacedKind::Twin:
      break;
  }
  return {names.work(original.firstNode),
          original.kind == NodeKind::Task ? DeviceWork::Kernel : DeviceWork::Fill};
}

}  // namespace tessera::detail
