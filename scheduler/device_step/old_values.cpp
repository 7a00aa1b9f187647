#include "scheduler/device_step/old_values.hpp"

#include <algorithm>

namespace tessera::detail {

/// What is read on any device is read in the home of its patch.
OldValues::OldValues(const CompiledGraphs& graphs, DataWarehouse& data, const PlacedGraph& placed,
                     DeviceAssignment device, DeviceStore& store, DeviceLane& lane, DeviceNodes& nodes)
    : graphs_(graphs),
      data_(data),
      placed_(placed),
      device_(device),
      store_(store),
      lane_(lane),
      nodes_(nodes) {
  for (const OldNeed& need : placed.oldNeeds) {
    const DeviceAssignment place = need.place == kOnHost ? kOnHost : device;
    const bool known = std::any_of(needs_.begin(), needs_.end(), [&](const OldNeed& other) {
      return other.label == need.label && other.level == need.level && other.place == place &&
             other.generation == need.generation;
    });
    if (!known) needs_.push_back({need.label, need.level, place, need.generation});
  }
}

void OldValues::copy() {
  using To = DeviceMoves::CopyTo;
  for (const OldNeed& need : needs_)
    copy(need.place == kOnHost ? To::Host : To::Device, need.generation, {need.label, need.level});
}

void OldValues::copyToHost(Generation generation, std::span<const LabelId> labels) {
  copyAll(DeviceMoves::CopyTo::Host, generation, labels);
}

void OldValues::copyToDevice(Generation generation, std::span<const LabelId> labels) {
  copyAll(DeviceMoves::CopyTo::Device, generation, labels);
}

void OldValues::copyAll(DeviceMoves::CopyTo to, Generation generation, std::span<const LabelId> labels) {
  for (const LabelId label : labels) {
    for (LevelId level = 0; level < std::ssize(graphs_.localsOfLevel); ++level)
      copy(to, generation, {label, level});
  }
}

std::vector<std::int32_t> OldValues::localsToBring(Generation generation, const LevelLabel& what,
                                                   MemorySpace from, MemorySpace to) const {
  std::vector<std::int32_t> locals;
  const Range range = graphs_.localsOfLevel[static_cast<std::size_t>(what.level)];
  for (auto local = static_cast<std::int32_t>(range.begin); local < range.end; ++local) {
    const auto n = static_cast<std::size_t>(local);
    if (placed_.homes[n] != device_ || !store_.has(what.label, n)) continue;
    const Status& status = data_.valueStatus(generation, what.label, n);
    if (needsCopyTo(status, to) && !needsCopyTo(status, from)) locals.push_back(local);
  }
  return locals;
}

void OldValues::copy(DeviceMoves::CopyTo to, Generation generation, const LevelLabel& what) {
  const bool in = to == DeviceMoves::CopyTo::Device;
  const MemorySpace target = in ? store_.space() : kHost;
  const std::vector<std::int32_t> locals =
      localsToBring(generation, what, in ? kHost : store_.space(), target);
  if (locals.empty()) return;
  lane_.putBeside(
      [&](DeviceStream stream) { nodes_.copyValues(to, generation, what.label, locals, stream); });
  for (const std::int32_t local : locals) {
    copiedTo(data_.valueStatus(generation, what.label, static_cast<std::size_t>(local)), target);
  }
  lane_.synchronize();  // the host goes on to read, or to overwrite, what was copied
}

}  // namespace tessera::detail
