#include "taskgraph/proof/race_rooms.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

/// One memory of a room: a touch of each node, a write where it writes.
struct Tenant {
  std::int64_t begins = 0;  ///< position of its first node
  std::map<std::int64_t, std::size_t> touchOf;
};

Tenant tenantOf(std::span<const Touch> touches, std::size_t begin, std::size_t end, const UnionGraph& nodes) {
  Tenant tenant;
  for (std::size_t n = begin; n < end; ++n) {
    if (touches[n].node < 0) continue;
    const auto [at, added] = tenant.touchOf.try_emplace(touches[n].node, n);
    if (!added && touches[n].writes()) at->second = n;
  }
  if (tenant.touchOf.empty()) return tenant;
  const auto first = std::min_element(
      tenant.touchOf.begin(), tenant.touchOf.end(),
      [&](const auto& a, const auto& b) { return nodes.position(a.first) < nodes.position(b.first); });
  tenant.begins = nodes.position(first->first);
  return tenant;
}

}  // namespace

RaceRooms::RaceRooms(std::span<const CompiledGraphs> ranks, std::size_t plan) : ranks_(ranks), plan_(plan) {
  for (const LevelStorage& storage : ranks.front().storage) {
    if (storage.slot >= 0) slots_[{storage.label, storage.level}] = storage.slot;
  }
}

std::optional<Room> RaceRooms::roomOf(const Memory& memory) const {
  const CompiledGraphs& rank = ranks_[static_cast<std::size_t>(memory.rank)];
  if (memory.kind == Memory::Kind::Gather) {
    const auto& gathers = rank.gathers[plan_];
    const auto at = static_cast<std::size_t>(memory.number);
    if (memory.number < 0 || at >= gathers.size()) return {};
    return Room{memory.rank, memory.kind, gathers[at].slot, 0};
  }
  if (memory.kind != Memory::Kind::Entry) return {};
  const PatchId patch = rank.ownPatches[static_cast<std::size_t>(memory.number)];
  const auto slot = slots_.find({memory.label, rank.hierarchy->patch(patch).level});
  if (slot == slots_.end()) return {};
  return Room{memory.rank, memory.kind, slot->second, memory.number};
}

std::vector<RoomConflict> RaceRooms::conflicts(std::span<const Touch> touches,
                                               const UnionGraph& nodes) const {
  std::map<Room, std::vector<Tenant>> rooms;
  for (std::size_t begin = 0; begin < touches.size();) {
    std::size_t end = begin;
    while (end < touches.size() && touches[end].memory == touches[begin].memory) ++end;
    const std::optional<Room> room = roomOf(touches[begin].memory);
    Tenant tenant = room ? tenantOf(touches, begin, end, nodes) : Tenant{};
    if (!tenant.touchOf.empty()) rooms[*room].push_back(std::move(tenant));
    begin = end;
  }
  std::vector<RoomConflict> found;
  for (auto& [room, tenants] : rooms) {
    std::sort(tenants.begin(), tenants.end(),
              [](const Tenant& a, const Tenant& b) { return a.begins < b.begins; });
    for (std::size_t t = 1; t < tenants.size(); ++t) {
      for (const auto& [nodeBefore, first] : tenants[t - 1].touchOf) {
        for (const auto& [nodeAfter, second] : tenants[t].touchOf) {
          if (touches[first].writes() || touches[second].writes()) found.push_back({first, second});
        }
      }
    }
  }
  return found;
}

}  // namespace tessera::detail
