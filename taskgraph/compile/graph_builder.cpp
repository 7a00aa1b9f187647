#include "taskgraph/compile/graph_builder.hpp"

#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"
#include "taskgraph/storage/scratch_halos.hpp"
#include "taskgraph/storage/share_windows.hpp"

namespace tessera::detail {

GraphBuilder::GraphBuilder(const ResolvedPlan& plan, const CompileInput& input, const CompiledGraphs& graphs,
                           const MeshChanges* changes)
    : plan_(plan),
      input_(input),
      graphs_(graphs),
      changes_(changes),
      shapes_(input_, graphs, graph_.tables, changes),
      messages_(input_, shapes_, graph_),
      edges_(graph_),
      unitBlocks_(plan.units.size(), -1),
      releases_(plan.units.size(), -1),
      shared_(plan, graphs.storage),
      sharedGathers_(plan, input.reuse, [&](const FillNeed& need) { return windowOf(need).size() > 0; }) {
  if (input.slots != nullptr && !input.slots->messages.empty())
    messageRoom_ = input.slots->messages.at(graphs.plans.size());
  graph_.plan = plan.plan;
  graph_.carried = plan.carried;
  graph_.endsStep = plan.endsStep;
  graph_.standIns = plan.standIns;
}

CompiledGraph GraphBuilder::build(std::vector<GatherNeed>& gathers) {
  makeFills(gathers);
  addStage(0);
  for (std::size_t n = 0; n < plan_.order.size(); ++n) {
    addUnit(plan_.order[n]);
    addStage(n + 1);
  }
  addReductions();
  for (const std::int32_t unit : plan_.order) linkUnit(unit);
  for (const StagedFill& fill : fills_) linkFill(fill);
  for (const std::int32_t unit : plan_.order) linkOverwrites(unit);
  linkMessages();
  linkShared();
  for (const auto& [where, versions] : plan_.versions) {
    if (plan_.writes(where)) graph_.written.push_back(where);
  }
  edges_.finish();
  checkTags();
  return std::move(graph_);
}

void GraphBuilder::checkTags() const {
  if (messages_.tags() - 1 <= input_.tagBound) return;
  throw PlanError({Message("a plan needs more message tags than MPI has")
                       .line("plan   ", plan_.plan->name())
                       .line("tags   ", messages_.tags(), " needed, ", input_.tagBound + 1, " allowed")
                       .line("fix    join tasks of this plan, or split it into two plans")
                       .text()});
}

void GraphBuilder::makeFills(std::vector<GatherNeed>& gathers) {
  const std::vector<FillNeed> needs = fillNeeds(plan_);
  const Lifetimes lifetimes(plan_, needs);
  for (const FillNeed& need : needs) {
    fills_.push_back({need, static_cast<std::int32_t>(graph_.fills.size()), -1});
    stageOfFill_.push_back(lifetimes.stageOf(stageOfFill_.size()));
    FillPlan plan;
    plan.label = need.label;
    plan.generation = need.version < 0 ? Generation::Old : Generation::New;
    plan.version = need.version;
    plan.coarseVersion = need.coarseFill ? need.coarseVersion : -1;
    plan.reach = need.reach;
    plan.sourceLevel = need.level;
    plan.readerLevel = need.readerLevel;
    plan.halo = need.halo;
    plan.table = shapes_.of(need).table;
    plan.ring = ringOf(need);
    plan.shared = windowOf(need);
    plan.scratch = need.reach == Reach::Patch && isScratch(graphs_, {need.label, need.level});
    const bool buffered = need.reach != Reach::Patch && plan.shared.size() == 0;
    if (buffered) plan.firstGather = addGathers(need, fills_.size() - 1, gathers);
    graph_.fills.push_back(std::move(plan));
  }
}

/// Needs of rings come before those of the halos that are interpolated from them.
std::int32_t GraphBuilder::ringOf(const FillNeed& need) const {
  if (!need.ring) return -1;
  const auto ring = std::find_if(fills_.begin(), fills_.end(), [&](const StagedFill& other) {
    return other.need.reach == Reach::Coarser && other.need.label == need.coarseLabel &&
           other.need.readerLevel == need.level && other.need.version == need.coarseVersion;
  });
  TESSERA_EXPECT(ring != fills_.end(), "gather the cells that a halo is interpolated from");
  return ring->fill;
}

Range GraphBuilder::windowOf(const FillNeed& need) const {
  if (need.reach == Reach::Patch) return sharedOf(graphs_, {need.label, need.level});
  return need.reach == Reach::WholeLevel ? wholeOf(graphs_, {need.label, need.level}) : Range{};
}

std::int32_t GraphBuilder::addGathers(const FillNeed& need, std::size_t number,
                                      std::vector<GatherNeed>& gathers) {
  const auto first = static_cast<std::int32_t>(gathers.size());
  const bool whole = need.reach == Reach::WholeLevel;
  const Range rows = whole ? Range{0, 1} : shapes_.locals(need.readerLevel);
  const std::int64_t room = whole ? 1 : shapes_.room(need.readerLevel);
  std::int32_t slot = sharedGathers_.firstSlot(number, room);
  for (std::int64_t local = rows.begin; local < rows.end; ++local) {
    const Box window = whole ? input_.hierarchy->level(need.level).domainOf(shapes_.centeringOf(need))
                             : shapes_.targetOf(need, shapes_.ownPatch(local));
    gathers.push_back({need.label, window, slot++});
  }
  for (std::int64_t spare = rows.size(); spare < room; ++spare) gathers.push_back({need.label, {}, slot++});
  return first;
}

void GraphBuilder::addUnit(std::int32_t unit) {
  const ResolvedUnit& resolved = plan_.units[static_cast<std::size_t>(unit)];
  const TaskDeclaration& task = plan_.declarationOf(unit);
  TaskUnit made{resolved.task, resolved.level, {}, {}};
  if (task.oncePerLevel) made.part = UnitPart::AllPatches;
  addAccesses(made, resolved);
  const bool single = !made.hasPatch();
  const std::int64_t first = resolved.level < 0 ? 0 : shapes_.locals(resolved.level).begin;
  const Range locals = single ? Range{first, first + 1} : shapes_.locals(resolved.level);
  const std::int64_t room = single ? 1 : shapes_.room(resolved.level);
  made.contributions.begin = graph_.contributionCount;
  made.contributions.end = graph_.contributionCount + static_cast<std::int64_t>(task.contributions.size());
  graph_.contributionCount += locals.size() * made.contributions.size();
  graph_.units.push_back(made);
  const auto item = static_cast<std::int32_t>(graph_.units.size()) - 1;
  unitBlocks_[static_cast<std::size_t>(unit)] =
      addBlock(NodeKind::Task, item, locals.size(), room, locals.begin, task.priority);
  if (task.oncePerLevel && !resolved.writes.empty()) addRelease(unit);
}

/// What comes after a task on all patches waits for one of these, patch by patch.
void GraphBuilder::addRelease(std::int32_t unit) {
  const ResolvedUnit& resolved = plan_.units[static_cast<std::size_t>(unit)];
  TaskUnit made{resolved.task, resolved.level, {}, {}, UnitPart::Release};
  made.accesses.begin = static_cast<std::int64_t>(graph_.accesses.size());
  for (const ResolvedWrite& write : resolved.writes)
    graph_.accesses.push_back({AccessMode::Write, write.label, resolved.level, Reach::Patch, {}, -1});
  made.accesses.end = static_cast<std::int64_t>(graph_.accesses.size());
  made.contributions = {graph_.contributionCount, graph_.contributionCount};
  graph_.units.push_back(made);
  const Range locals = shapes_.locals(resolved.level);
  releases_[static_cast<std::size_t>(unit)] =
      addBlock(NodeKind::Task, static_cast<std::int32_t>(graph_.units.size()) - 1, locals.size(),
               shapes_.room(resolved.level), locals.begin, plan_.declarationOf(unit).priority);
}

void GraphBuilder::addAccesses(TaskUnit& made, const ResolvedUnit& unit) {
  made.accesses.begin = static_cast<std::int64_t>(graph_.accesses.size());
  for (const ResolvedRead& read : unit.reads) {
    const StagedFill* fill = fillFor(unit, read);
    const AccessMode mode = read.version < 0 ? AccessMode::ReadOld : AccessMode::ReadNew;
    graph_.accesses.push_back({mode, read.label, read.level, read.reach, read.halo,
                               fill == nullptr ? -1 : fill->fill, read.facesOnly});
  }
  for (const ResolvedWrite& write : unit.writes) {
    const AccessMode mode = write.version == 0 ? AccessMode::Write : AccessMode::Modify;
    graph_.accesses.push_back({mode, write.label, unit.level, Reach::Patch, {}, -1});
  }
  made.accesses.end = static_cast<std::int64_t>(graph_.accesses.size());
}

void GraphBuilder::addStage(std::size_t stage) {
  const std::vector<StagedFill> staged = fillsOf(stage);
  if (staged.empty()) return;
  const auto receives = static_cast<std::int64_t>(graph_.receives.size());
  const auto sends = static_cast<std::int64_t>(graph_.sends.size());
  messages_.addStage(staged);
  addMessageBlock(NodeKind::Receive, receives, static_cast<std::int64_t>(graph_.receives.size()) - receives);
  addMessageBlock(NodeKind::Send, sends, static_cast<std::int64_t>(graph_.sends.size()) - sends);
  for (const StagedFill& fill : staged) {
    const bool whole = fill.need.reach == Reach::WholeLevel;
    const Range rows = whole ? Range{0, 1} : shapes_.locals(fill.need.readerLevel);
    const std::int64_t room = whole ? 1 : shapes_.room(fill.need.readerLevel);
    fills_[static_cast<std::size_t>(fill.fill)].block =
        addBlock(NodeKind::Fill, fill.fill, rows.size(), room, rows.begin, 0);
  }
}

std::vector<StagedFill> GraphBuilder::fillsOf(std::size_t stage) const {
  std::vector<StagedFill> staged;
  for (std::size_t f = 0; f < fills_.size(); ++f) {
    if (stageOfFill_[f] == stage) staged.push_back(fills_[f]);
  }
  return staged;
}

void GraphBuilder::addMessageBlock(NodeKind kind, std::int64_t first, std::int64_t count) {
  std::int64_t room = count;
  if (!messageRoom_.empty()) {
    room = messageRoom_.at(messageBlocks_++);
    TESSERA_EXPECT(room >= count, "give slots that hold all messages");
  } else if (input_.slots != nullptr && input_.ranks > 1) {
    room += count / 8 + 2;
  }
  addBlock(kind, static_cast<std::int32_t>(first), count, room, 0, 0);
}

void GraphBuilder::addReductions() {
  std::map<LabelId, ReductionPlan> byLabel;
  for (const std::int32_t unit : plan_.order) {
    for (const ContributionDeclaration& c : plan_.declarationOf(unit).contributions) {
      ReductionPlan& plan = byLabel[c.reduction];
      plan.reduction = c.reduction;
      plan.kind = c.kind;
      plan.blocks.push_back(blockOfUnit(unit));
      addFactor(plan, plan_.units[static_cast<std::size_t>(unit)].level);
    }
  }
  for (const auto& [label, plan] : byLabel) {
    const auto item = static_cast<std::int32_t>(graph_.reductions.size());
    graph_.reductions.push_back(plan);
    const std::int32_t block = addBlock(NodeKind::Reduce, item, 1, 1, 0, 0);
    for (const std::int32_t from : plan.blocks) edges_.all(from, block);
  }
}

void GraphBuilder::addFactor(ReductionPlan& plan, LevelId level) const {
  for (const LevelFactors& factors : input_.factors) {
    if (factors.reduction == plan.reduction && level >= 0)
      plan.factors.push_back(factors.ofLevel[static_cast<std::size_t>(level)]);
  }
}

void GraphBuilder::linkUnit(std::int32_t number) {
  const ResolvedUnit& unit = plan_.units[static_cast<std::size_t>(number)];
  const std::int32_t block = blockOfUnit(number);
  for (const ResolvedRead& read : unit.reads) linkRead(unit, read, block);
  if (const std::int32_t release = releases_[static_cast<std::size_t>(number)]; release >= 0)
    edges_.samePatch(block, release);
}

void GraphBuilder::linkOverwrites(std::int32_t number) {
  const ResolvedUnit& unit = plan_.units[static_cast<std::size_t>(number)];
  const std::int32_t block = blockOfUnit(number);
  for (const ResolvedWrite& write : unit.writes) {
    if (write.version > 0) {
      linkOverwrite(write.label, unit.level, write.version - 1, block);
      continue;
    }
    const LabelId before = shared_.before({write.label, unit.level});
    if (before >= 0) linkOverwrite(before, unit.level, plan_.lastVersion(before, unit.level), block);
  }
}

void GraphBuilder::linkRead(const ResolvedUnit& unit, const ResolvedRead& read, std::int32_t block) {
  const StagedFill* fill = fillFor(unit, read);
  if (fill == nullptr) {
    edges_.samePatch(producerBlock(read.label, read.level, read.version), block);
  } else if (read.reach == Reach::WholeLevel) {
    const bool window = graph_.fills[static_cast<std::size_t>(fill->fill)].shared.size() > 0;
    if (!window || read.version >= 0) edges_.all(fill->block, block);  // Old is in the window from the start
  } else {
    edges_.samePatch(fill->block, block);
  }
}

void GraphBuilder::linkOverwrite(LabelId label, LevelId level, std::int32_t version, std::int32_t block) {
  edges_.samePatch(producerBlock(label, level, version), block);
  for (std::size_t u = 0; u < plan_.units.size(); ++u) {
    for (const ResolvedRead& read : plan_.units[u].reads) {
      const bool here = read.label == label && read.level == level && read.version == version;
      if (here && read.reach == Reach::Patch) edges_.samePatch(unitBlocks_[u], block);
    }
  }
  for (const StagedFill& fill : fills_) {
    if (fill.need.label != label) continue;
    if (fill.need.level == level && fill.need.version == version) {
      if (fill.need.reach == Reach::Patch) edges_.samePatch(fill.block, block);
      if (!waitsForRowsAround(fill, block)) edges_.sourcesAfter(fill.block, block);
    }
    const bool takesBelow = fill.need.coarseFill && !fill.need.ring;
    if (!takesBelow || fill.need.level - 1 != level || fill.need.coarseVersion != version) continue;
    const NodeBlock& rows = graph_.blocks[static_cast<std::size_t>(fill.block)];
    for (std::int32_t row = 0; row < rows.count; ++row) {
      for (const CoarsePiece& piece : graph_.fills[static_cast<std::size_t>(fill.fill)].coarse.row(row)) {
        if (piece.source >= 0) edges_.single(rows.firstNode + row, nodeOn(block, piece.source));
      }
    }
  }
}

bool GraphBuilder::waitsForRowsAround(const StagedFill& fill, std::int32_t block) const {
  if (fill.need.reach != Reach::Patch) return false;
  const Halo back{fill.need.halo.hi, fill.need.halo.lo};
  return std::any_of(fills_.begin(), fills_.end(), [&](const StagedFill& other) {
    const FillNeed& need = other.need;
    const bool lookBack = need.reach == Reach::Patch && need.level == fill.need.level && need.version >= 0 &&
                          shapes_.centeringOf(need) == shapes_.centeringOf(fill.need) &&
                          unite(need.halo, back) == need.halo;
    return lookBack &&
           edges_.samePatchPath(fill.block, producerBlock(need.label, need.level, need.version)) &&
           edges_.samePatchPath(other.block, block);
  });
}

std::int32_t GraphBuilder::overwriterOf(LabelId label, LevelId level, std::int32_t version) const {
  const std::int32_t changer = plan_.changerOf(label, level, version);
  if (changer >= 0 || version < 0) return changer;
  const LabelId after = shared_.after({label, level});
  return after < 0 ? -1 : plan_.producerOf(after, level, 0);
}

void GraphBuilder::linkTakenGather(const StagedFill& fill) {
  const std::int32_t number = sharedGathers_.before(static_cast<std::size_t>(fill.fill));
  if (number < 0) return;
  const StagedFill& before = fills_[static_cast<std::size_t>(number)];
  const bool whole = fill.need.reach == Reach::WholeLevel;
  const auto link = [&](std::int32_t from) {
    if (whole) {
      edges_.all(from, fill.block);
    } else {
      edges_.samePatch(from, fill.block);
    }
  };
  link(before.block);
  for (std::size_t u = 0; u < plan_.units.size(); ++u) {
    for (const ResolvedRead& read : plan_.units[u].reads) {
      if (serves(before.need, plan_.units[u], read)) link(unitBlocks_[u]);
    }
  }
}

void GraphBuilder::linkFill(const StagedFill& fill) {
  const FillNeed& need = fill.need;
  const std::int32_t producer = producerBlock(need.label, need.level, need.version);
  if (producer >= 0) {
    if (need.reach == Reach::Patch) edges_.samePatch(producer, fill.block);
    edges_.sourcesBefore(producer, fill.block);
  }
  if (need.coarseFill) linkCoarse(fill);
  if (need.ring) edges_.samePatch(fills_[static_cast<std::size_t>(ringOf(need))].block, fill.block);
  if (need.reach != Reach::Patch) return linkTakenGather(fill);
  // The halo is filled in place: fills of earlier versions, and those who read them, must be through.
  for (const StagedFill& other : fills_) {
    const bool earlier = other.need.label == need.label && other.need.level == need.level &&
                         other.need.reach == Reach::Patch && other.need.version >= 0 &&
                         other.need.version < need.version;
    if (!earlier) continue;
    edges_.samePatch(other.block, fill.block);
    for (std::size_t u = 0; u < plan_.units.size(); ++u) {
      for (const ResolvedRead& read : plan_.units[u].reads) {
        if (serves(other.need, plan_.units[u], read)) edges_.samePatch(unitBlocks_[u], fill.block);
      }
    }
  }
}

void GraphBuilder::linkCoarse(const StagedFill& fill) {
  if (fill.need.ring) return;
  const std::int32_t producer = producerBlock(fill.need.label, fill.need.level - 1, fill.need.coarseVersion);
  if (producer < 0) return;
  const NodeBlock& rows = graph_.blocks[static_cast<std::size_t>(fill.block)];
  for (std::int32_t row = 0; row < rows.count; ++row) {
    for (const CoarsePiece& piece : graph_.fills[static_cast<std::size_t>(fill.fill)].coarse.row(row)) {
      if (piece.source >= 0) edges_.single(nodeOn(producer, piece.source), rows.firstNode + row);
    }
  }
}

void GraphBuilder::linkMessages() {
  for (const MessageLink& link : messages_.links()) {
    switch (link.kind) {
      case MessageLink::Kind::PackFrom: {
        const NodeId send = messageNode(NodeKind::Send, link.message);
        const std::int32_t producer = plan_.producerOf(link.label, link.level, link.version);
        const std::int32_t changer = overwriterOf(link.label, link.level, link.version);
        if (producer >= 0) edges_.single(nodeOn(leavingBlock(producer), link.local), send);
        if (changer >= 0) edges_.single(send, nodeOn(blockOfUnit(changer), link.local));
        break;
      }
      case MessageLink::Kind::Forward:
        edges_.single(messageNode(NodeKind::Receive, link.other), messageNode(NodeKind::Send, link.message));
        break;
      case MessageLink::Kind::Arrives: {
        const NodeBlock& rows =
            graph_.blocks[static_cast<std::size_t>(fills_[static_cast<std::size_t>(link.fill)].block)];
        edges_.single(messageNode(NodeKind::Receive, link.message), rows.firstNode + link.row);
        break;
      }
    }
  }
}

void GraphBuilder::linkShared() {
  IdVector<NodeId, NodeId> leadOf;
  for (const StagedFill& fill : fills_) {
    const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill.fill)];
    if (plan.shared.size() == 0 || plan.reach != Reach::Patch) continue;
    if (leadOf.empty()) leadOf.resize(graph_.nodeCount());
    const NeighbourTable& table = graph_.tables[static_cast<std::size_t>(plan.table)];
    for (std::int64_t s = plan.shared.begin; s < plan.shared.end; ++s) {
      const SharedWindow& shared = graphs_.shared[static_cast<std::size_t>(s)];
      const NodeId lead = nodeOn(fill.block, shared.members.front());
      for (const std::int32_t member : openMembers(shared, plan, table, graphs_)) {
        const NodeId node = nodeOn(fill.block, member);
        if (node != lead) leadOf[node] = lead;
      }
    }
  }
  if (!leadOf.empty()) edges_.follow(leadOf);
}

std::int32_t GraphBuilder::addBlock(NodeKind kind, std::int32_t item, std::int64_t count, std::int64_t room,
                                    std::int64_t firstLocal, int priority) {
  TESSERA_EXPECT(graph_.nodeCount() + room < std::numeric_limits<std::int32_t>::max(),
                 "give a rank less than 2^31 nodes");
  TESSERA_EXPECT(graph_.blocks.size() < std::numeric_limits<std::uint16_t>::max(),
                 "split a plan of 65,535 blocks");
  graph_.blocks.push_back({kind, item, graph_.blockOf.endId(), static_cast<std::int32_t>(count),
                           static_cast<std::int32_t>(firstLocal), priority});
  const auto block = static_cast<std::uint16_t>(graph_.blocks.size() - 1);
  graph_.blockOf.resize(graph_.nodeCount() + room, block);
  return block;
}

const StagedFill* GraphBuilder::fillFor(const ResolvedUnit& unit, const ResolvedRead& read) const {
  for (const StagedFill& fill : fills_) {
    if (serves(fill.need, unit, read)) return &fill;
  }
  return nullptr;
}

NodeId GraphBuilder::nodeOn(std::int32_t block, std::int64_t local) const {
  const NodeBlock& b = graph_.blocks[static_cast<std::size_t>(block)];
  return graph_.worksOnAllPatches(b) ? b.firstNode : b.firstNode + (local - b.firstLocal);
}

NodeId GraphBuilder::messageNode(NodeKind kind, std::int32_t message) const {
  for (const NodeBlock& b : graph_.blocks) {
    if (b.kind == kind && message >= b.item && message < b.item + b.count)
      return b.firstNode + (message - b.item);
  }
  return {};
}

}  // namespace tessera::detail
