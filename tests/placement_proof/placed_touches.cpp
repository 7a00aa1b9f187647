#include "tests/placement_proof/placed_touches.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "taskgraph/placement/node_assignments.hpp"

namespace tessera::detail {

PlacedTouches::PlacedTouches(std::span<const CompiledGraphs> ranks, std::size_t plan,
                             std::span<const PlacedGraph> placed, const UnionGraph& nodes,
                             const UnionGraph& placedNodes, RaceFaults& faults)
    : ranks_(ranks),
      plan_(plan),
      placed_(placed),
      nodes_(nodes),
      placedNodes_(placedNodes),
      faults_(faults),
      versions_(*ranks.front().plans[plan].plan, ranks.front().plans[plan].carried,
                ranks.front().plans[plan].standIns, *ranks.front().hierarchy),
      stands_(static_cast<std::size_t>(nodes.nodeCount())) {
  findStands();
}

void PlacedTouches::findStands() {
  for (const CompiledGraphs& rank : ranks_) {
    const CompiledGraph& graph = graphOf(rank.rank);
    for (const PlacedBlock& block : placedOf(rank.rank).blocks) {
      if (block.kind == PlacedKind::CopyIn || block.kind == PlacedKind::CopyOut) continue;
      const NodeBlock& of = graph.blocks[static_cast<std::size_t>(block.block)];
      for (std::int32_t n = 0; n < block.count; ++n) {
        const std::int64_t node = nodes_.node(rank.rank, of.firstNode + block.firstNumber + n);
        stands_[static_cast<std::size_t>(node)].push_back(
            {placedNodes_.node(rank.rank, block.firstNode + n), block.place});
      }
    }
  }
}

SpacedTouches PlacedTouches::collect(const RaceMessages& messages) {
  PackVersions packs;
  std::vector<TouchCollector> collectors;
  std::vector<Touch> touches;
  for (const CompiledGraphs& rank : ranks_) {
    packs.emplace_back(graphOf(rank.rank).packItems.size(), kUnclaimed);
    collectors.emplace_back(ranks_, plan_, rank.rank, nodes_, versions_, messages, faults_);
  }
  for (TouchCollector& collector : collectors) collector.collect(packs, touches);
  noteWriters(touches);
  for (const Touch& touch : touches) {
    if (touch.node < 0) {
      startOfStep(touch);
      continue;
    }
    const Rank rank = nodes_.rankOf(touch.node);
    switch (graphOf(rank).block(nodes_.localOf(touch.node)).kind) {
      case NodeKind::Task:
        ofTask(touch);
        break;
      case NodeKind::Fill:
        ofFill(touch);
        break;
      case NodeKind::Receive:
      case NodeKind::Reduce:
      case NodeKind::Send:
        add(kOnHost, touch, stands_[static_cast<std::size_t>(touch.node)].front().node);
        break;
    }
  }
  for (const CompiledGraphs& rank : ranks_) {
    ofSends(rank.rank, collectors[static_cast<std::size_t>(rank.rank)], packs);
    ofCopies(rank.rank, collectors[static_cast<std::size_t>(rank.rank)]);
  }
  return std::move(touches_);
}

void PlacedTouches::noteWriters(std::span<const Touch> touches) {
  for (const Touch& touch : touches) {
    if (!touch.writes() || touch.node < 0) continue;
    const NodeKind kind = graphOf(nodes_.rankOf(touch.node)).block(nodes_.localOf(touch.node)).kind;
    const DeviceAssignment place = stands_[static_cast<std::size_t>(touch.node)].front().place;
    if (kind == NodeKind::Task) written_[touch.memory].push_back({touch.version, touch.box, place});
    if (kind == NodeKind::Fill) filled_[touch.node].insert(touch.memory);
  }
}

/// The values of the last step, and those of earlier items, are in the memory of the spaces that ask for
/// them.
void PlacedTouches::startOfStep(const Touch& touch) {
  const CompiledGraphs& rank = ranks_[static_cast<std::size_t>(touch.memory.rank)];
  const PatchId patch = rank.ownPatches[static_cast<std::size_t>(touch.memory.number)];
  const LevelId level = rank.hierarchy->patch(patch).level;
  const DeviceAssignment home = homeOf(touch.memory);
  std::set<DeviceAssignment> places;
  for (const OldNeed& need : placedOf(rank.rank).oldNeeds) {
    const bool isOld = need.generation == Generation::Old;
    if (need.label != touch.memory.label || need.level != level || isOld != (touch.version < 0)) continue;
    places.insert(need.place == kOnHost || home == kOnHost ? need.place : home);
  }
  for (const DeviceAssignment place : places) add(place, touch, -1);
}

/// Whether it is the window of patches that have several homes. The first member's number stands for all.
bool PlacedTouches::isScattered(const Memory& memory) const {
  const std::vector<SharedWindow>& shared = ranks_[static_cast<std::size_t>(memory.rank)].shared;
  const std::vector<DeviceAssignment>& homes = placedOf(memory.rank).homes;
  return std::any_of(shared.begin(), shared.end(), [&](const SharedWindow& window) {
    return window.label == memory.label && window.members.front() == memory.number &&
           !haveOneHome(window.members, homes);
  });
}

/// Of an own patch whose values have one device; else the host.
DeviceAssignment PlacedTouches::homeOf(const Memory& memory) const {
  const std::vector<DeviceAssignment>& homes = placedOf(memory.rank).homes;
  if (homes.empty() || memory.kind != Memory::Kind::Entry || isScattered(memory)) return kOnHost;
  return homes[static_cast<std::size_t>(memory.number)];
}

void PlacedTouches::ofTask(const Touch& touch) {
  const Stand& stand = stands_[static_cast<std::size_t>(touch.node)].front();
  // Received bytes are read by tasks that fill scratch windows themselves.
  const bool ofHost =
      touch.memory.kind == Memory::Kind::Contribution || touch.memory.kind == Memory::Kind::Received;
  add(ofHost ? kOnHost : stand.place, touch, stand.node);
}

void PlacedTouches::ofFill(const Touch& touch) {
  const std::set<Memory>& own = filled_[touch.node];
  for (const Stand& stand : stands_[static_cast<std::size_t>(touch.node)]) {
    DeviceAssignment space = stand.place;
    if (touch.memory.kind == Memory::Kind::Received) {
      space = kOnHost;
    } else if (space != kOnHost && own.count(touch.memory) == 0) {
      // Another patch's value is read at its home, or where a task of another device has left it.
      const DeviceAssignment home = homeOf(touch.memory);
      const DeviceAssignment there = home != kOnHost || touch.version < 0 ? home : writtenOn(touch);
      if (there != kOnHost) space = there;
    }
    add(space, touch, stand.node);
  }
}

DeviceAssignment PlacedTouches::writtenOn(const Touch& read) const {
  const auto found = written_.find(read.memory);
  if (found == written_.end()) return kOnHost;
  for (const Written& value : found->second) {
    if (value.version == read.version && !intersect(value.box, read.box).empty()) return value.place;
  }
  return kOnHost;
}

void PlacedTouches::ofSends(Rank rank, const TouchCollector& collector, const PackVersions& packs) {
  const CompiledGraph& graph = graphOf(rank);
  for (const NodeBlock& block : graph.blocks) {
    if (block.kind != NodeKind::Send) continue;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int64_t node = nodes_.node(rank, block.firstNode + n);
      const std::vector<Stand>& stands = stands_[static_cast<std::size_t>(node)];
      const std::int32_t send = block.item + n;
      const MessagePlan& message = graph.sends[static_cast<std::size_t>(send)];
      const Memory bytes{Memory::Kind::Sent, rank, -1, 0, send};
      for (std::int64_t p = message.items.begin; p < message.items.end; ++p) {
        const PackItem& item = graph.packItems[static_cast<std::size_t>(p)];
        const DeviceAssignment place = placedOf(rank).packPlaces[static_cast<std::size_t>(p)];
        const auto packsIt = [&](const Stand& stand) { return stand.place == place; };
        const auto stand = std::find_if(stands.begin(), stands.end(), packsIt);
        if (stand == stands.end()) continue;  // the bytes will be missed
        add(kOnHost, {bytes, bytesBox(item.offset, item.bytes), 0, 0, TouchKind::Write}, stand->node);
        const std::int32_t version = packs[static_cast<std::size_t>(rank)][static_cast<std::size_t>(p)];
        add(place, packed(rank, item, version, collector), stand->node);
      }
      add(kOnHost, {bytes, bytesBox(0, message.bytes), 0, 0, TouchKind::Read}, stands.front().node);
    }
  }
}

/// What is packed: bytes of a message received before, or a part of an own patch.
Touch PlacedTouches::packed(Rank rank, const PackItem& item, std::int32_t version,
                            const TouchCollector& collector) {
  if (item.source >= 0) {
    return {collector.entry(item.label, item.generation, item.source), item.region, 0, version,
            TouchKind::Read};
  }
  return {{Memory::Kind::Received, rank, -1, 0, item.forward},
          bytesBox(item.forwardOffset, item.bytes),
          0,
          0,
          TouchKind::Read};
}

void PlacedTouches::ofCopies(Rank rank, const TouchCollector& collector) {
  const CompiledGraphs& own = ranks_[static_cast<std::size_t>(rank)];
  for (const PlacedBlock& block : placedOf(rank).blocks) {
    if (block.kind != PlacedKind::CopyIn && block.kind != PlacedKind::CopyOut) continue;
    const NodeBlock& writer = graphOf(rank).blocks[static_cast<std::size_t>(block.block)];
    const TaskUnit& unit = graphOf(rank).units[static_cast<std::size_t>(writer.item)];
    const std::int32_t version = versions_.ofWrite(unit.task, unit.level, block.label);
    const DeviceAssignment from = block.kind == PlacedKind::CopyIn ? kOnHost : block.place;
    const DeviceAssignment to = block.kind == PlacedKind::CopyIn ? block.place : kOnHost;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t local = writer.firstLocal + block.firstNumber + n;
      const Patch& patch = own.hierarchy->patch(own.ownPatches[static_cast<std::size_t>(local)]);
      const Centering centering = own.labels->info(block.label).centering;
      const Memory memory = collector.entry(block.label, Generation::New, local);
      const Box owned = own.hierarchy->level(unit.level).closedBox(patch, centering);
      const std::int64_t node = placedNodes_.node(rank, block.firstNode + n);
      add(from, {memory, owned, 0, version, TouchKind::Read}, node);
      add(to, {memory, owned, 0, version, TouchKind::Write}, node);
    }
  }
}

void PlacedTouches::add(DeviceAssignment space, const Touch& touch, std::int64_t node) {
  if (touch.box.empty()) return;
  touches_[space].push_back(touch);
  touches_[space].back().node = node;
}

}  // namespace tessera::detail
