// The part of DeviceFills that goes between memories: packing of messages, and copies of owned indices.
#include <algorithm>

#include "core/text/contracts.hpp"
#include "scheduler/device/moves/device_fills.hpp"

namespace tessera {

void DeviceFills::launchPack(std::span<const std::int32_t> sends, DeviceStream stream) {
  if (packed_.empty()) listPacked();
  const BufferConfiguration configuration = configurationOfPacks();
  auto found = packs_.find(configuration);
  if (found == packs_.end()) found = packs_.emplace(configuration, makePacks(stream)).first;
  counts_.regions += found->second.launch(stream, "Fill::pack", sends);
}

bool DeviceFills::isPicked(const PackItem& item) const {
  if (item.source < 0) return false;
  if (isOnDevice_) return isOnDevice_(item);
  return store_.has(item.label, static_cast<std::size_t>(item.source));
}

void DeviceFills::listPacked() {
  const auto levelOf = [&](const PackItem& item) { return ownPatch(item.source).level; };
  for (const PackItem& item : graph_.packItems) {
    if (!isPicked(item)) continue;
    const bool known = std::any_of(packed_.begin(), packed_.end(), [&](const PackItem& other) {
      return other.label == item.label && other.generation == item.generation &&
             levelOf(other) == levelOf(item);
    });
    if (!known) packed_.push_back(item);
  }
}

DeviceFills::BufferConfiguration DeviceFills::configurationOfPacks() const {
  BufferConfiguration configuration{pump_.parity()};
  for (const PackItem& item : packed_) {
    configuration.push_back(
        data_.descriptionOf(item.generation, item.label, static_cast<std::size_t>(item.source)));
  }
  return configuration;
}

RegionTable DeviceFills::makePacks(DeviceStream stream) {
  RegionList list;
  for (std::size_t send = 0; send < graph_.sends.size(); ++send) {
    list.beginRow();
    std::byte* buffer = pump_.sendBuffer(static_cast<std::int32_t>(send)).data();
    const Range items = graph_.sends[send].items;
    for (std::int64_t n = items.begin; n < items.end; ++n) {
      const PackItem& item = graph_.packItems[static_cast<std::size_t>(n)];
      if (!isPicked(item)) continue;
      const auto source = static_cast<std::size_t>(item.source);
      TESSERA_EXPECT(store_.has(item.label, source), "add what is packed on the device to its store");
      list.pack(buffer + item.offset, store_.data(item.generation, item.label, source),
                store_.layout(item.label, source), item.region, info(item.label).type.bytes());
    }
  }
  return upload(list, stream, "packing of messages");
}

void DeviceFills::launchCopy(CopyTo to, LabelId label, Generation generation,
                             std::span<const std::int32_t> locals, DeviceStream stream) {
  if (locals.empty()) return;
  const LevelId number = ownPatch(locals.front()).level;
  const std::array<std::int32_t, 4> key{to == CopyTo::Device ? 1 : 0, label, number,
                                        descriptionOf(generation, label, number)};
  auto found = copies_.find(key);
  if (found == copies_.end()) {
    found = copies_.emplace(key, makeCopies(to, label, generation, number, stream)).first;
  }
  CopyTable& copies = found->second;
  rows_.clear();
  for (const std::int32_t local : locals) {
    const std::int32_t row = local - firstLocal(number);
    TESSERA_EXPECT(row >= 0 && row < std::ssize(copies.isThere), "copy patches of one level at once");
    TESSERA_EXPECT(copies.isThere[static_cast<std::size_t>(row)] != 0,
                   "add all that is copied to the store before it is copied first");
    rows_.push_back(row);
  }
  const RegionCounts counts = copies.table.launch(stream, "Fill::copy", rows_);
  (to == CopyTo::Device ? counts_.copiedIn : counts_.copiedOut) += counts.copied;
  counts_.copyLaunches += counts.launches;
}

DeviceFills::CopyTable DeviceFills::makeCopies(CopyTo to, LabelId label, Generation generation,
                                               LevelId number, DeviceStream stream) {
  CopyTable made;
  RegionList list;
  const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(number)];
  for (std::int64_t local = locals.begin; local < locals.end; ++local) {
    const auto own = static_cast<std::size_t>(local);
    list.beginRow();
    made.isThere.push_back(store_.has(label, own) ? 1 : 0);
    if (made.isThere.back() == 0) continue;
    std::byte* host = data_.data(generation, label, own);
    std::byte* there = store_.data(generation, label, own);
    const Box owned = data_.ownedBox(label, own);
    const std::int64_t bytes = info(label).type.bytes();
    if (to == CopyTo::Device) {
      list.copy(there, store_.layout(label, own), host, data_.layout(label, own), owned, {}, bytes);
    } else {
      list.copy(host, data_.layout(label, own), there, store_.layout(label, own), owned, {}, bytes);
    }
  }
  made.table = upload(list, stream, "copies of " + info(label).name);
  return made;
}

}  // namespace tessera
