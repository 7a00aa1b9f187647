#include "taskgraph/proof/race_allocations.hpp"

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

RaceAllocations::RaceAllocations(std::span<const CompiledGraphs> ranks, std::size_t plan)
    : ranks_(ranks), plan_(plan) {
  for (const LevelStorage& storage : ranks.front().storage) {
    if (storage.slot >= 0) slots_[{storage.label, storage.level}] = storage.slot;
  }
}

std::optional<Allocation> RaceAllocations::allocationOf(const Memory& memory) const {
  const CompiledGraphs& rank = ranks_[static_cast<std::size_t>(memory.rank)];
  if (memory.kind == Memory::Kind::Gather) {
    const auto& gathers = rank.gathers[plan_];
    const auto at = static_cast<std::size_t>(memory.number);
    if (memory.number < 0 || at >= gathers.size()) return {};
    return Allocation{memory.rank, memory.kind, gathers[at].slot, 0};
  }
  if (memory.kind != Memory::Kind::Entry) return {};
  const PatchId patch = rank.ownPatches[static_cast<std::size_t>(memory.number)];
  const auto slot = slots_.find({memory.label, rank.hierarchy->patch(patch).level});
  if (slot == slots_.end()) return {};
  return Allocation{memory.rank, memory.kind, slot->second, memory.number};
}

std::vector<AllocationConflict> RaceAllocations::conflicts(std::span<const Touch> touches,
                                                           const UnionGraph& nodes) const {
  std::map<Allocation, std::vector<Tenant>> allocations;
  for (std::size_t begin = 0; begin < touches.size();) {
    std::size_t end = begin;
    while (end < touches.size() && touches[end].memory == touches[begin].memory) ++end;
    const std::optional<Allocation> allocation = allocationOf(touches[begin].memory);
    Tenant tenant = allocation ? tenantOf(touches, begin, end, nodes) : Tenant{};
    if (!tenant.touchOf.empty()) allocations[*allocation].push_back(std::move(tenant));
    begin = end;
  }
  std::vector<AllocationConflict> found;
  for (auto& [allocation, users] : allocations) {
    std::sort(users.begin(), users.end(),
              [](const Tenant& a, const Tenant& b) { return a.begins < b.begins; });
    for (std::size_t t = 1; t < users.size(); ++t) {
      for (const auto& [nodeBefore, first] : users[t - 1].touchOf) {
        for (const auto& [nodeAfter, second] : users[t].touchOf) {
          if (touches[first].writes() || touches[second].writes()) found.push_back({first, second});
        }
      }
    }
  }
  return found;
}

}  // namespace tessera::detail
