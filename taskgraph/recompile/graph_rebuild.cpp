#include "taskgraph/recompile/graph_rebuild.hpp"

#include <algorithm>

#include "taskgraph/recompile/edge_update.hpp"

namespace tessera::detail {
namespace {

/// Slots of rows that hold something, ascending.
template <class T>
void addFilledRows(const RowLists<T>& lists, Range used, std::vector<std::int32_t>& slots) {
  if (lists.places.empty()) return;
  for (std::int64_t slot = used.begin; slot < used.end; ++slot) {
    if (lists.places[static_cast<std::size_t>(slot - used.begin)].count() > 0)
      slots.push_back(static_cast<std::int32_t>(slot));
  }
}

}  // namespace

std::optional<CompiledGraph> GraphRebuild::rebuild(CompiledGraph previous, std::vector<GatherNeed>& gathers) {
  graph_ = std::move(previous);
  adoptBlocks();
  const bool leadsChange = adoptWindows();
  for (const StagedFill& fill : fills_) shapes_.of(fill.need);
  const FillShapes::Remade remade = shapes_.remakeAll();
  tooMuch_ = remade == FillShapes::Remade::TooMuch;
  if (remade != FillShapes::Remade::Done) return std::nullopt;
  std::vector<std::int32_t> countsBefore;
  for (const NodeBlock& block : graph_.blocks) countsBefore.push_back(block.count);
  renewGathers(gathers);
  // Rows that lead a group follow messages, too; which ones is told by the links of all messages only.
  const bool redo = input_.ranks > 1 && (messagesChange() || leadsChange);
  if (redo && !renewMessages()) return std::nullopt;
  if (input_.ranks == 1 && !renewCoarseRows()) return std::nullopt;
  countNodes();
  linkAll();
  // Where nothing of the messages changes their edges stay; with one rank there are only those of coarse
  // rows.
  std::vector<NodeEdge> singles = edges_.takeSingles();
  if (!redo && input_.ranks > 1) singles = graph_.singleEdges;
  EdgeUpdate update(graph_, edges_.relations(), shapes_, std::move(countsBefore));
  if (!update.run(std::move(singles))) return std::nullopt;
  edges_.setSlack();
  checkTags();
  return std::move(graph_);
}

bool GraphRebuild::adoptWindows() {
  bool leadsChange = false;
  for (const StagedFill& fill : fills_) {
    FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill.fill)];
    const Range before = plan.shared;
    plan.shared = windowOf(fill.need);
    const bool leads = plan.reach == Reach::Patch && (before.size() > 0 || plan.shared.size() > 0);
    leadsChange = leadsChange || (leads && !changesOf(fill.need.level).same);
  }
  return leadsChange;
}

void GraphRebuild::adoptBlocks() {
  const std::vector<FillNeed> needs = fillNeeds(plan_);
  const Lifetimes lifetimes(plan_, needs);
  for (const FillNeed& need : needs) {
    fills_.push_back({need, static_cast<std::int32_t>(fills_.size()), -1});
    stageOfFill_.push_back(lifetimes.stageOf(stageOfFill_.size()));
  }
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    NodeBlock& block = graph_.blocks[b];
    const auto item = static_cast<std::size_t>(block.item);
    block.priority = 0;
    if (block.kind == NodeKind::Fill) fills_[item].block = static_cast<std::int32_t>(b);
    if (block.kind != NodeKind::Task) continue;
    const std::int32_t unit = plan_.order[item];
    unitBlocks_[static_cast<std::size_t>(unit)] = static_cast<std::int32_t>(b);
    block.priority = plan_.declarationOf(unit).priority;
  }
}

void GraphRebuild::renewGathers(std::vector<GatherNeed>& gathers) {
  for (const StagedFill& fill : fills_) {
    const FillNeed& need = fill.need;
    if (need.reach == Reach::Patch || need.reach == Reach::WholeLevel) continue;
    const Range used = shapes_.locals(need.readerLevel);
    const std::int64_t first = graph_.fills[static_cast<std::size_t>(fill.fill)].firstGather - used.begin;
    for (const std::int32_t slot : changesOf(need.readerLevel).slots) {
      gathers[static_cast<std::size_t>(first + slot)].window =
          slot < used.end ? shapes_.targetOf(need, shapes_.ownPatch(slot)) : Box{};
    }
  }
}

/// May say so a little too often, never too seldom.
bool GraphRebuild::messagesChange() const {
  for (const StagedFill& fill : fills_) {
    const FillNeed& need = fill.need;
    const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill.fill)];
    const ShapeData& shape = shapes_.dataOf(plan.table);
    if (shape.remote) return true;
    if (need.coarseFill && !(changesOf(need.level).same && changesOf(need.level - 1).same)) return true;
    if (need.reach == Reach::WholeLevel) continue;
    const std::int64_t first = shapes_.locals(need.readerLevel).begin;
    const auto received = [&](std::int32_t slot) { return !plan.pieces.row(slot - first).empty(); };
    const auto& slots = changesOf(need.readerLevel).slots;
    if (std::any_of(shape.rows.begin(), shape.rows.end(), received)) return true;
    if (std::any_of(slots.begin(), slots.end(), received)) return true;
  }
  return std::any_of(graph_.packItems.begin(), graph_.packItems.end(), [&](const PackItem& item) {
    return std::any_of(changes_->levels.begin(), changes_->levels.end(), [&](const LevelChanges& level) {
      return std::binary_search(level.slots.begin(), level.slots.end(), item.source);
    });
  });
}

bool GraphRebuild::renewMessages() {
  std::vector<std::vector<std::int32_t>> rows(graph_.tables.size());
  std::vector<std::vector<std::int32_t>> coarse(fills_.size());
  for (StagedFill& fill : fills_) {
    if (fill.need.reach == Reach::WholeLevel) continue;
    const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill.fill)];
    const Range used = shapes_.locals(fill.need.readerLevel);
    addFilledRows(plan.pieces, used, rows[static_cast<std::size_t>(plan.table)]);
    if (!fill.need.coarseFill) continue;
    std::vector<std::int32_t>& slots = coarse[static_cast<std::size_t>(fill.fill)];
    slots = coarseRowsToRenew(fill);
    addFilledRows(plan.coarse, used, slots);
    sortUnique(slots);
    fill.coarseRows = &slots;
  }
  std::vector<std::int32_t> senders;
  for (const PackItem& item : graph_.packItems) {
    if (item.source >= 0) senders.push_back(item.source);
  }
  sortUnique(senders);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    sortUnique(rows[t]);
    shapes_.lookAtOtherRanks(static_cast<std::int32_t>(t), std::move(rows[t]), senders);
  }
  const bool room = sendAnew();
  for (StagedFill& fill : fills_) fill.coarseRows = nullptr;
  return room;
}

bool GraphRebuild::sendAnew() {
  graph_.sends.clear();
  graph_.receives.clear();
  graph_.packItems.clear();
  std::vector<std::size_t> blocks;  // of receives and sends, in turn
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    const NodeKind kind = graph_.blocks[b].kind;
    if (kind == NodeKind::Receive || kind == NodeKind::Send) blocks.push_back(b);
  }
  const auto enter = [&](std::size_t b, std::size_t first, std::size_t end) {
    NodeBlock& block = graph_.blocks[b];
    block.item = static_cast<std::int32_t>(first);
    block.count = static_cast<std::int32_t>(end - first);
    return block.firstNode + block.count <= graph_.blocks[b + 1].firstNode;  // fills follow
  };
  std::size_t next = 0;
  for (std::size_t stage = 0; stage <= plan_.order.size(); ++stage) {
    const std::vector<StagedFill> staged = fillsOf(stage);
    if (staged.empty()) continue;
    const std::size_t receives = graph_.receives.size();
    const std::size_t sends = graph_.sends.size();
    messages_.addStage(staged);
    const bool received = enter(blocks[next++], receives, graph_.receives.size());
    if (!enter(blocks[next++], sends, graph_.sends.size()) || !received) return false;
  }
  return true;
}

/// Rows under which something may have changed: on their own level, or on the coarser one.
std::vector<std::int32_t> GraphRebuild::coarseRowsToRenew(const StagedFill& fill) const {
  const FillNeed& need = fill.need;
  std::vector<std::int32_t> slots = shapes_.readingSlots(need.level - 1, changesOf(need.level - 1).regions,
                                                         Reach::Coarser, shapes_.haloBelow(need));
  const auto& rows = shapes_.dataOf(graph_.fills[static_cast<std::size_t>(fill.fill)].table).rows;
  slots.insert(slots.end(), rows.begin(), rows.end());
  sortUnique(slots);
  return slots;
}

bool GraphRebuild::renewCoarseRows() {
  std::vector<CoarseSource> sources;
  std::vector<CoarsePiece> row;
  bool room = true;
  for (const StagedFill& fill : fills_) {
    if (!fill.need.coarseFill) continue;
    RowLists<CoarsePiece>& coarse = graph_.fills[static_cast<std::size_t>(fill.fill)].coarse;
    const Range used = shapes_.locals(fill.need.readerLevel);
    if (coarse.places.empty()) coarse.finish(shapes_.room(fill.need.readerLevel));
    for (const std::int32_t slot : changesOf(fill.need.readerLevel).slots) {
      if (slot >= used.end) coarse.replace(slot - used.begin, {});
    }
    for (const std::int32_t slot : coarseRowsToRenew(fill)) {
      sources.clear();
      row.clear();
      shapes_.coarseSources(fill.need, shapes_.ownPatch(slot), sources);
      for (const CoarseSource& source : sources) {
        const std::int32_t from = source.source == nullptr ? -1 : shapes_.localOf(source.source->id);
        row.push_back({from, -1, 0, source.region, source.image});
      }
      room = coarse.replace(slot - used.begin, row) && room;
    }
  }
  return room;
}

void GraphRebuild::countNodes() {
  graph_.contributionCount = 0;
  for (NodeBlock& block : graph_.blocks) {
    if (block.kind == NodeKind::Fill) {
      const FillPlan& fill = graph_.fillOf(block);
      if (fill.reach != Reach::WholeLevel)
        block.count = static_cast<std::int32_t>(shapes_.locals(fill.readerLevel).size());
    }
    if (block.kind != NodeKind::Task) continue;
    TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    if (unit.level >= 0) block.count = static_cast<std::int32_t>(shapes_.locals(unit.level).size());
    const std::int64_t each = unit.contributions.size();
    unit.contributions = {graph_.contributionCount, graph_.contributionCount + each};
    graph_.contributionCount += block.count * each;
  }
}

void GraphRebuild::linkAll() {
  for (std::size_t r = 0; r < graph_.reductions.size(); ++r) {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      const bool joins =
          graph_.blocks[b].kind == NodeKind::Reduce && graph_.blocks[b].item == static_cast<int>(r);
      for (const std::int32_t from : graph_.reductions[r].blocks) {
        if (joins) edges_.all(from, static_cast<std::int32_t>(b));
      }
    }
  }
  for (const std::int32_t unit : plan_.order) linkUnit(unit);
  for (const StagedFill& fill : fills_) linkFill(fill);
  for (const std::int32_t unit : plan_.order) linkOverwrites(unit);
  linkMessages();
  linkShared();
}

}  // namespace tessera::detail
