#include "taskgraph/placement/node_assignments.hpp"

#include <algorithm>
#include <array>

#include "core/text/contracts.hpp"

namespace tessera::detail {

DeviceAssignments::DeviceAssignments(const MoveBuilder& moves, const PlaceTask& place, const ValueFlow& flow,
                                     const PackedValues& packed)
    : moves_(moves),
      graphs_(moves.graphs()),
      graph_(moves.graph()),
      place_(place),
      sets_(graph_.nodeCount(), 0) {
  placeTasks(flow);
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
  if (task.oncePerLevel) return kOnHost;
  const DeviceAssignment place = place_(task, level, local);
  TESSERA_EXPECT(place >= kOnHost && place < kMostDevices, "place tasks on the host or on devices 0 to 62");
  return place;
}

void DeviceAssignments::placeTasks(const ValueFlow& flow) {
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    const NodeBlock& block = graph_.blocks[b];
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.unitOf(block);
    const TaskDeclaration& task = graph_.declarationOf(unit);
    PlaceSet all = 0;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t local = unit.hasPatch() ? block.firstLocal + n : -1;
      const PlaceSet here = set(block.firstNode + n) = setOf(ask(task, unit.level, local));
      if ((here & ~all) != 0) noteNeedsOfTask(static_cast<std::int32_t>(b), n, flow);
      all |= here;
    }
  }
}

/// What the task finds in memory that no node of the plan has left there. All nodes of a block read the same
/// variables: one in each place tells for all.
void DeviceAssignments::noteNeedsOfTask(std::int32_t number, std::int32_t n, const ValueFlow& flow) {
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(number)];
  const PlaceSet here = of(block.firstNode + n);
  forEachAccessOfTask(moves_, block, n, [&](const NodeAccess& access) {
    if (access.fill >= 0) return;
    const LevelLabel what{access.label, graph_.unitOf(block).level};
    const bool isOld = access.generation == Generation::Old;
    if (isOld || flow.takesCarried(number, access)) need(access.generation, what) |= here;
  });
}

void DeviceAssignments::placeFills(const ValueFlow& flow) {
  std::vector<const NodeBlock*> blockOfFill(graph_.fills.size(), nullptr);
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind == NodeKind::Fill) blockOfFill[static_cast<std::size_t>(block.item)] = &block;
  }
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.unitOf(block);
    for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
      const std::int32_t fill = graph_.accesses[static_cast<std::size_t>(a)].fill;
      if (fill < 0) continue;
      const NodeBlock& rows = *blockOfFill[static_cast<std::size_t>(fill)];
      const bool whole = graph_.fills[static_cast<std::size_t>(fill)].reach == Reach::WholeLevel;
      if (unit.part == UnitPart::AllPatches) {
        for (std::int32_t row = 0; row < rows.count; ++row) set(rows.firstNode + row) |= of(block.firstNode);
        continue;
      }
      for (std::int32_t n = 0; n < block.count; ++n) {
        const std::int32_t row = whole ? 0 : block.firstLocal + n - rows.firstLocal;
        set(rows.firstNode + row) |= of(block.firstNode + n);
      }
    }
  }
  for (std::size_t f = 0; f < graph_.fills.size(); ++f) {
    joinGroups(*blockOfFill[f], graph_.fills[f]);
    noteNeedsOfFill(*blockOfFill[f], graph_.fills[f], flow);
  }
}

/// The row of a first member fills the halo for all members of a shared window.
void DeviceAssignments::joinGroups(const NodeBlock& block, const FillPlan& fill) {
  if (fill.reach != Reach::Patch) return;
  for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
    const std::vector<std::int32_t>& members = graphs_.shared[static_cast<std::size_t>(s)].members;
    const NodeId first = block.firstNode - block.firstLocal;
    for (const std::int32_t member : members) set(first + members.front()) |= of(first + member);
  }
}

void DeviceAssignments::noteNeedsOfFill(const NodeBlock& block, const FillPlan& fill, const ValueFlow& flow) {
  PlaceSet all = 0;
  PlaceSet below = 0;
  const bool takesBelow = fill.coarse.itemCount() > 0 && flow.coarseProducer(fill) < 0;
  const std::vector<PlaceSet> works = workOfRows(block, fill);
  for (std::int32_t n = 0; n < block.count; ++n) {
    const PlaceSet here = works[static_cast<std::size_t>(n)];
    all |= here;
    if (takesBelow && (here & ~below) != 0 && flow.takesCoarse(block.item, n)) below |= here;
  }
  if (flow.producer(fill) < 0) need(fill.generation, {fill.label, fill.sourceLevel}) |= all;
  if (below != 0) need(fill.generation, {fill.label, fill.sourceLevel - 1}) |= below;
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
      } else {
        const PatchId patch = graphs_.ownPatches[static_cast<std::size_t>(value.source)];
        const LevelId level = graphs_.hierarchy->patch(patch).level;
        place = homeOf(value.label, level, value.source);
        need(value.generation, {value.label, level}) |= setOf(place);
      }
      placeOf.emplace(value, place);
      if (place != kOnHost) packing_[s] |= setOf(place);
    }
    forEachAccessOfSend(moves_, send, [&](const NodeAccess& access) {
      if (access.memory.in != MoveRef::In::Entry) return;
      packs_[static_cast<std::size_t>(access.item)] = placeOf.at(packed.of(send, access));
    });
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
        if (here) at->second.push_back(&plan.plan->task(unit.task));
      }
    }
  }
  return at->second;
}

std::vector<OldNeed> DeviceAssignments::oldNeeds() const {
  std::vector<OldNeed> needs;
  for (const auto& [value, places] : needs_) {
    const auto& [generation, what] = value;
    if (graphs_.localsOfLevel[static_cast<std::size_t>(what.level)].size() == 0) continue;
    forEachPlace(places, [&, at = what, of = generation](DeviceAssignment place) {
      needs.push_back({at.label, at.level, place, of});
    });
  }
  return needs;
}

}  // namespace tessera::detail
