#include "taskgraph/compile/message_builder.hpp"

#include <algorithm>

#include "grid/refine.hpp"

namespace tessera::detail {
namespace {

Generation generationOf(std::int32_t version) { return version < 0 ? Generation::Old : Generation::New; }

/// Turns (row, value) pairs into row lists; the values of a row keep their order.
template <class T>
RowLists<T> rowsOf(std::vector<std::pair<std::int32_t, T>>& pairs, std::int64_t rows) {
  RowLists<T> lists;
  if (pairs.empty()) return lists;
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(pairs.begin(), pairs.end(), before))
    std::stable_sort(pairs.begin(), pairs.end(), before);
  std::size_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (; at < pairs.size() && pairs[at].first == row; ++at) lists.push(pairs[at].second);
    lists.endRow();
  }
  lists.finish(rows);
  return lists;
}

}  // namespace

MessagePlan& MessageBuilder::receiveFrom(Rank peer, std::map<Rank, std::int32_t>& known) {
  const auto [at, added] = known.try_emplace(peer, static_cast<std::int32_t>(graph_.receives.size()));
  if (added) graph_.receives.push_back({peer, nextTag_, 0, {}});
  return graph_.receives[static_cast<std::size_t>(at->second)];
}

void MessageBuilder::addStage(std::span<const StagedFill> stage) {
  std::map<Rank, std::int32_t> receives;
  std::map<Rank, std::vector<PackItem>> packs;
  for (const StagedFill& fill : stage) {
    if (fill.need.reach == Reach::WholeLevel) continue;
    addReceives(fill, receives);
    addSends(fill, packs);
    if (!fill.need.coarseFill) continue;
    addCoarseReceives(fill, receives);
    if (!fill.need.ring) addCoarseSends(fill, packs);
  }
  finishSends(packs, stage);
  ++nextTag_;
  for (const StagedFill& fill : stage) {
    if (fill.need.reach == Reach::WholeLevel) addWholeLevel(fill);
  }
}

void MessageBuilder::addReceives(const StagedFill& fill, std::map<Rank, std::int32_t>& known) {
  std::vector<std::pair<std::int32_t, FillPiece>> pieces;
  for (const RemoteSource& remote : shapes_.of(fill.need).remoteSources) {
    const Rank peer = shapes_.ownerOf(remote.source->id);
    MessagePlan& message = receiveFrom(peer, known);
    pieces.push_back({remote.row, {known[peer], message.bytes, remote.region}});
    message.bytes += remote.region.volume() * elementBytes(fill.need.label);
    links_.push_back({MessageLink::Kind::Arrives, known[peer], -1, -1, 0, -1, 0, fill.fill, remote.row});
  }
  graph_.fills[static_cast<std::size_t>(fill.fill)].pieces =
      rowsOf(pieces, shapes_.room(fill.need.readerLevel));
}

void MessageBuilder::addCoarseReceives(const StagedFill& fill, std::map<Rank, std::int32_t>& known) {
  const Extent ratio = input_.hierarchy->level(fill.need.level).ratioToCoarser();
  const Range rows = shapes_.locals(fill.need.readerLevel);
  std::vector<std::pair<std::int32_t, CoarsePiece>> pieces;
  std::vector<CoarseSource> sources;
  for (const std::int32_t local : rowsByPlace(fill)) {
    sources.clear();
    shapes_.coarseSources(fill.need, shapes_.ownPatch(local), sources);
    for (const CoarseSource& source : sources) {
      const auto row = static_cast<std::int32_t>(local - rows.begin);
      if (fill.need.ring) {
        pieces.push_back({row, {-1, -1, 0, source.region, {}}});
        continue;
      }
      CoarsePiece piece{shapes_.localOf(source.source->id), -1, 0, source.region, source.image};
      if (piece.source < 0) {
        const Rank peer = shapes_.ownerOf(source.source->id);
        MessagePlan& message = receiveFrom(peer, known);
        const Box fine =
            shift(source.region, Index{} - shiftOf(input_.hierarchy->level(fill.need.level), source.image));
        piece.message = known[peer];
        piece.offset = message.bytes;
        message.bytes += coarsen(fine, ratio).volume() * elementBytes(fill.need.label);
        links_.push_back({MessageLink::Kind::Arrives, piece.message, -1, -1, 0, -1, 0, fill.fill, row});
      }
      pieces.push_back({row, piece});
    }
  }
  graph_.fills[static_cast<std::size_t>(fill.fill)].coarse =
      rowsOf(pieces, shapes_.room(fill.need.readerLevel));
}

std::vector<std::int32_t> MessageBuilder::rowsByPlace(const StagedFill& fill) const {
  std::vector<std::int32_t> slots;
  if (fill.coarseRows != nullptr) {
    slots = *fill.coarseRows;
  } else {
    const Range rows = shapes_.locals(fill.need.readerLevel);
    for (std::int64_t local = rows.begin; local < rows.end; ++local)
      slots.push_back(static_cast<std::int32_t>(local));
  }
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return beforeByPosition(shapes_.ownPatch(a).cells, shapes_.ownPatch(b).cells);
  };
  if (!std::is_sorted(slots.begin(), slots.end(), before)) std::sort(slots.begin(), slots.end(), before);
  return slots;
}

void MessageBuilder::addSends(const StagedFill& fill, std::map<Rank, std::vector<PackItem>>& packs) {
  for (const RemoteReader& reader : shapes_.of(fill.need).remoteReaders) {
    PackItem item{
        fill.need.label, generationOf(fill.need.version), reader.source, -1, 0, reader.region, 0, 0};
    item.bytes = reader.region.volume() * elementBytes(fill.need.label);
    packs[reader.rank].push_back(item);
  }
}

std::vector<const Patch*> MessageBuilder::coarseReaders(const FillNeed& need) const {
  const Halo coarse = shapes_.haloBelow(need);
  std::vector<const Patch*> readers;
  const Range own = shapes_.locals(need.level - 1);
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    for (const Patch* reader :
         possibleReaders(*input_.hierarchy, shapes_.ownPatch(local), Reach::Coarser, coarse)) {
      if (shapes_.ownerOf(reader->id) != input_.rank) readers.push_back(reader);
    }
  }
  sortByPosition(readers);
  return readers;
}

void MessageBuilder::addCoarseSends(const StagedFill& fill, std::map<Rank, std::vector<PackItem>>& packs) {
  const Level& level = input_.hierarchy->level(fill.need.level);
  std::vector<CoarseSource> sources;
  for (const Patch* reader : coarseReaders(fill.need)) {
    sources.clear();
    shapes_.coarseSources(fill.need, *reader, sources);
    for (const CoarseSource& source : sources) {
      const std::int32_t local = shapes_.localOf(source.source->id);
      if (local < 0) continue;
      const Box fine = shift(source.region, Index{} - shiftOf(level, source.image));
      PackItem item{fill.need.label,
                    generationOf(fill.need.coarseVersion),
                    local,
                    -1,
                    0,
                    coarsen(fine, level.ratioToCoarser()),
                    0,
                    0};
      item.bytes = item.region.volume() * elementBytes(fill.need.label);
      packs[shapes_.ownerOf(reader->id)].push_back(item);
    }
  }
}

void MessageBuilder::finishSends(std::map<Rank, std::vector<PackItem>>& packs,
                                 std::span<const StagedFill> stage) {
  for (auto& [peer, items] : packs) {
    const std::int32_t send = addSend(peer, nextTag_, items);
    for (const PackItem& item : items) {
      // The version that the fill behind this item asks for on the level of the packed patch.
      const LevelId level = shapes_.ownPatch(item.source).level;
      for (const StagedFill& fill : stage) {
        if (fill.need.label != item.label) continue;
        if (fill.need.level == level) {
          links_.push_back({MessageLink::Kind::PackFrom, send, -1, item.label, level, fill.need.version,
                            item.source, 0, 0});
        } else if (fill.need.coarseFill && !fill.need.ring && fill.need.level - 1 == level) {
          links_.push_back({MessageLink::Kind::PackFrom, send, -1, item.label, level, fill.need.coarseVersion,
                            item.source, 0, 0});
        }
      }
    }
  }
}

std::int32_t MessageBuilder::addSend(Rank peer, std::int64_t tag, const std::vector<PackItem>& items) {
  MessagePlan message{peer, tag, 0, {static_cast<std::int64_t>(graph_.packItems.size()), 0}};
  for (PackItem item : items) {
    item.offset = message.bytes;
    message.bytes += item.bytes;
    graph_.packItems.push_back(item);
  }
  message.items.end = static_cast<std::int64_t>(graph_.packItems.size());
  graph_.sends.push_back(message);
  return static_cast<std::int32_t>(graph_.sends.size()) - 1;
}

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
    forEachInDomain(level, patch, centering,
                    [&](const Box& region, Index) { bytesOf[owner] += region.volume() * element; });
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
        forEachInDomain(level, *patch, centering, [&](const Box& region, Index by) {
          items.push_back({fill.need.label, fill.need.version < 0 ? Generation::Old : Generation::New,
                           shapes_.localOf(patch->id), -1, 0, shift(region, Index{} - by), 0,
                           region.volume() * element});
        });
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
      forEachInDomain(level, *patch, centering, [&](const Box& region, Index) {
        pieces.push({arrived[static_cast<std::size_t>(rank)].message, offset, region});
        offset += region.volume() * element;
      });
    }
  }
  pieces.endRow();
  pieces.finish(1);
}

}  // namespace tessera::detail
