#include <algorithm>

#include "taskgraph/compile/message_builder.hpp"

namespace tessera::detail {

void MessageBuilder::addWholeLevel(const StagedFill& fill) {
  const Level& level = input_.hierarchy->level(fill.need.level);
  const Centering centering = shapes_.centeringOf(fill.need);
  const std::int64_t element = elementBytes(fill.need.label);
  const Rank ranks = input_.ranks;
  std::vector<std::vector<const Patch*>> patchesOf(static_cast<std::size_t>(ranks));
  std::vector<std::int64_t> bytesOf(static_cast<std::size_t>(ranks), 0);
  for (const Patch& patch : level.patches()) {
    const auto owner = static_cast<std::size_t>(shapes_.ownerOf(patch.id));
    patchesOf[owner].push_back(&patch);
    bytesOf[owner] += level.ownedBy(patch, centering).volume() * element;
  }
  const auto behind = [&](Rank rank, Rank by) { return ((rank - by) % ranks + ranks) % ranks; };

  std::vector<Arrived> arrived(static_cast<std::size_t>(ranks));
  for (Rank distance = 1; distance < ranks; distance *= 2, ++nextTag_) {
    const Rank parts = std::min(distance, ranks - distance);
    std::vector<PackItem> items;
    std::vector<std::int32_t> forwards;
    for (Rank n = 0; n < parts; ++n) {
      const auto part = static_cast<std::size_t>(behind(input_.rank, n));
      if (n > 0) {
        const Arrived& from = arrived[part];
        if (bytesOf[part] == 0) continue;
        items.push_back(
            {fill.need.label, Generation::New, -1, from.message, from.offset, {}, 0, bytesOf[part]});
        forwards.push_back(from.message);
        continue;
      }
      for (const Patch* patch : patchesOf[part]) {
        const Box owned = level.ownedBy(*patch, centering);
        items.push_back({fill.need.label, fill.need.version < 0 ? Generation::Old : Generation::New,
                         shapes_.localOf(patch->id), -1, 0, owned, 0, owned.volume() * element});
      }
    }
    if (!items.empty()) {
      const std::int32_t send = addSend((input_.rank + distance) % ranks, nextTag_, items);
      for (const std::int32_t forward : forwards) {
        links_.push_back({MessageLink::Kind::Forward, send, forward, -1, 0, -1, 0, 0, 0});
      }
      for (const PackItem& item : items) {
        if (item.source < 0) continue;
        links_.push_back({MessageLink::Kind::PackFrom, send, -1, fill.need.label, fill.need.level,
                          fill.need.version, item.source, 0, 0});
      }
    }
    MessagePlan message{behind(input_.rank, distance), nextTag_, 0, {}};
    const auto number = static_cast<std::int32_t>(graph_.receives.size());
    for (Rank n = 0; n < parts; ++n) {
      const auto part = static_cast<std::size_t>(behind(input_.rank, distance + n));
      arrived[part] = {number, message.bytes};
      message.bytes += bytesOf[part];
    }
    if (message.bytes == 0) continue;
    graph_.receives.push_back(message);
    links_.push_back({MessageLink::Kind::Arrives, number, -1, -1, 0, -1, 0, fill.fill, 0});
  }

  RowLists<FillPiece>& pieces = graph_.fills[static_cast<std::size_t>(fill.fill)].pieces;
  pieces = {};
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (rank == input_.rank) continue;
    std::int64_t offset = arrived[static_cast<std::size_t>(rank)].offset;
    for (const Patch* patch : patchesOf[static_cast<std::size_t>(rank)]) {
      const Box owned = level.ownedBy(*patch, centering);
      pieces.push({arrived[static_cast<std::size_t>(rank)].message, offset, owned});
      offset += owned.volume() * element;
    }
  }
  pieces.endRow();
  pieces.finish(1);
}

}  // namespace tessera::detail
