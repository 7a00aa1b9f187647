#include "taskgraph/placement/node_assignments.hpp"

#include <algorithm>
#include <array>

#include "core/text/contracts.hpp"

namespace tessera::detail {
namespace {

constexpr std::uint8_t kReadOld = 0;

}  // namespace

DeviceAssignments::DeviceAssignments(const CompiledGraphs& graphs, std::size_t plan, const PlaceTask& place,
                                     const ValueFlow& flow, const PackedValues& packed)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      place_(place),
      sets_(static_cast<std::size_t>(graph_.nodeCount()), 0) {
  placeTasks();
  placeFills(flow);
  placePacks(packed);
  // All other nodes, and fills without readers, run on the host.
  for (const NodeBlock& block : graph_.blocks) {
    for (std::int32_t n = 0; n < block.count; ++n) {
      if (of(block.firstNode + n) == 0) set(block.firstNode + n) = setOf(kOnHost);
    }
  }
}

DeviceAssignment DeviceAssignments::ask(const TaskDeclaration& task, LevelId level,
                                        std::int32_t local) const {
  const DeviceAssignment place = place_(task, level, local);
  TESSERA_EXPECT(place >= kOnHost && place < kMostDevices, "place tasks on the host or on devices 0 to 62");
  return place;
}

void DeviceAssignments::placeTasks() {
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    const TaskDeclaration& task = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
    PlaceSet all = 0;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t local = unit.level < 0 ? -1 : block.firstLocal + n;
      all |= set(block.firstNode + n) = setOf(ask(task, unit.level, local));
    }
    for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
      const UnitAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
      if (access.mode == kReadOld && access.fill < 0) old_[{access.label, access.level}] |= all;
    }
  }
}

void DeviceAssignments::placeFills(const ValueFlow& flow) {
  std::vector<const NodeBlock*> blockOfFill(graph_.fills.size(), nullptr);
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind == NodeKind::Fill) blockOfFill[static_cast<std::size_t>(block.item)] = &block;
  }
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
      const std::int32_t fill = graph_.accesses[static_cast<std::size_t>(a)].fill;
      if (fill < 0) continue;
      const NodeBlock& rows = *blockOfFill[static_cast<std::size_t>(fill)];
      const bool whole = graph_.fills[static_cast<std::size_t>(fill)].reach == Reach::WholeLevel;
      for (std::int32_t n = 0; n < block.count; ++n) {
        const std::int32_t row = whole ? 0 : block.firstLocal + n - rows.firstLocal;
        set(rows.firstNode + row) |= of(block.firstNode + n);
      }
    }
  }
  for (std::size_t f = 0; f < graph_.fills.size(); ++f) {
    joinGroups(*blockOfFill[f], graph_.fills[f]);
    noteOldOfFill(*blockOfFill[f], graph_.fills[f], flow.coarseProducer(graph_.fills[f]) < 0);
  }
}

/// The row of a first member fills the halo for all members of a shared window.
void DeviceAssignments::joinGroups(const NodeBlock& block, const FillPlan& fill) {
  if (fill.reach != Reach::Patch) return;
  for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
    const std::vector<std::int32_t>& members = graphs_.shared[static_cast<std::size_t>(s)].members;
    const std::int32_t first = block.firstNode - block.firstLocal;
    for (const std::int32_t member : members) set(first + members.front()) |= of(first + member);
  }
}

void DeviceAssignments::noteOldOfFill(const NodeBlock& block, const FillPlan& fill, bool oldBelow) {
  PlaceSet all = 0;
  PlaceSet below = 0;
  const std::vector<PlaceSet> works = workOfRows(block, fill);
  for (std::int32_t n = 0; n < block.count; ++n) {
    all |= works[static_cast<std::size_t>(n)];
    const auto coarse = fill.coarse.row(n);
    const auto isOwn = [](const CoarsePiece& piece) { return piece.source >= 0; };
    if (std::any_of(coarse.begin(), coarse.end(), isOwn)) below |= works[static_cast<std::size_t>(n)];
  }
  if (fill.version < 0) old_[{fill.label, fill.sourceLevel}] |= all;
  if (oldBelow && below != 0) old_[{fill.label, fill.sourceLevel - 1}] |= below;
}

/// Where the copies of each row are made: where the row stands, or the first member of its group.
std::vector<PlaceSet> DeviceAssignments::workOfRows(const NodeBlock& block, const FillPlan& fill) const {
  std::vector<PlaceSet> works;
  for (std::int32_t n = 0; n < block.count; ++n) {
    const PlaceSet places = of(block.firstNode + n);
    works.push_back(places == 0 ? setOf(kOnHost) : places);
  }
  if (fill.reach != Reach::Patch) return works;
  for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
    const std::vector<std::int32_t>& members = graphs_.shared[static_cast<std::size_t>(s)].members;
    for (const std::int32_t member : members) {
      works[static_cast<std::size_t>(member - block.firstLocal)] =
          works[static_cast<std::size_t>(members.front() - block.firstLocal)];
    }
  }
  return works;
}

void DeviceAssignments::placePacks(const PackedValues& packed) {
  packs_.assign(graph_.packItems.size(), kOnHost);
  packing_.assign(graph_.sends.size(), 0);
  for (std::size_t s = 0; s < graph_.sends.size(); ++s) {
    const auto send = static_cast<std::int32_t>(s);
    std::map<PackedValue, DeviceAssignment> placeOf;
    for (const PackedValue& value : packed.ofSend(send)) {
      DeviceAssignment place = kOnHost;
      if (value.producer >= 0) {
        const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(value.producer)];
        place = firstOf(of(block.firstNode + value.source - block.firstLocal));
      } else if (value.generation == Generation::Old) {
        const PatchId patch = graphs_.ownPatches[static_cast<std::size_t>(value.source)];
        const LevelId level = graphs_.hierarchy->patch(patch).level;
        place = homeOf(value.label, level, value.source);
        old_[{value.label, level}] |= setOf(place);
      }
      placeOf.emplace(value, place);
      if (place != kOnHost) packing_[s] |= setOf(place);
    }
    for (std::int64_t n = graph_.sends[s].items.begin; n < graph_.sends[s].items.end; ++n) {
      const PackItem& item = graph_.packItems[static_cast<std::size_t>(n)];
      if (item.source >= 0) packs_[static_cast<std::size_t>(n)] = placeOf.at(packed.of(send, item));
    }
  }
}

/// The device on which most tasks of all plans write the variable on that patch; the host where none does.
/// Whatever a plan that runs rarely leaves elsewhere is brought there once.
DeviceAssignment DeviceAssignments::homeOf(LabelId label, LevelId level, std::int32_t local) {
  std::array<int, kMostDevices> times{};
  const auto timesOn = [&](DeviceAssignment place) -> int& {
    return times[static_cast<unsigned char>(place)];
  };
  DeviceAssignment home = kOnHost;
  for (const TaskDeclaration* task : writersInAllPlans({label, level})) {
    const DeviceAssignment place = ask(*task, level, local);
    if (place == kOnHost) continue;
    const int now = ++timesOn(place);
    const int best = home == kOnHost ? 0 : timesOn(home);
    if (now > best || (now == best && place < home)) home = place;
  }
  return home;
}

const std::vector<const TaskDeclaration*>& DeviceAssignments::writersInAllPlans(const LevelLabel& what) {
  const auto [at, added] = writers_.try_emplace(what);
  if (!added) return at->second;
  for (const CompiledGraph& plan : graphs_.plans) {
    for (const TaskUnit& unit : plan.units) {
      for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
        const UnitAccess& access = plan.accesses[static_cast<std::size_t>(a)];
        const bool here = access.writes() && access.label == what.label && access.level == what.level;
        if (here) at->second.push_back(&plan.plan->tasks()[static_cast<std::size_t>(unit.task)]);
      }
    }
  }
  return at->second;
}

std::vector<OldNeed> DeviceAssignments::oldNeeds() const {
  std::vector<OldNeed> needs;
  for (const auto& [what, places] : old_) {
    if (graphs_.localsOfLevel[static_cast<std::size_t>(what.level)].size() == 0) continue;
    forEachPlace(places, [&, at = what](DeviceAssignment place) {
      needs.push_back({at.label, at.level, place});
    });
  }
  return needs;
}

}  // namespace tessera::detail
