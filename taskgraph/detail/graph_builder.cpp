#include "taskgraph/detail/graph_builder.hpp"

#include <algorithm>

#include "core/contracts.hpp"

namespace tessera::detail {
namespace {

// Messages first: what waits for the network should leave as early as possible.
constexpr int kMessagePriority = 2'000'000;
constexpr int kHaloPriority = 1'000'000;

Generation generationOf(std::int32_t version) { return version < 0 ? Generation::Old : Generation::New; }

}  // namespace

GraphBuilder::GraphBuilder(const ResolvedPlan& plan, const CompileInput& input, std::span<const PatchId> ownPatches)
    : plan_(plan), input_(input), ownPatches_(ownPatches.begin(), ownPatches.end()) {
  graph_.plan = plan.plan;
}

CompiledGraph GraphBuilder::build() {
  const std::vector<HaloNeed> needs = haloNeeds(plan_);
  Stage old;
  for (const HaloNeed& need : needs) {
    if (need.version < 0) old.push_back(need);
  }
  if (!old.empty()) addExchange(old, 0);
  for (const std::int32_t task : plan_.order) {
    addTask(task);
    Stage written;
    for (const HaloNeed& need : needs) {
      if (need.version < 0) continue;
      const auto& chain = plan_.versions.at(need.label).tasks;
      if (chain[static_cast<std::size_t>(need.version)] == task) written.push_back(need);
    }
    if (!written.empty()) addExchange(written, 1 + task);
  }
  addReductions();
  for (const auto& [label, versions] : plan_.versions) graph_.written.push_back(label);
  finishEdges();
  return std::move(graph_);
}

void GraphBuilder::addExchange(const Stage& stage, std::int64_t stageNumber) {
  receiveNodes_.clear();
  arriving_.clear();
  addReceives(stage, stageNumber);
  addSends(stage, stageNumber);
  for (const HaloNeed& need : stage) {
    for (std::size_t local = 0; local < ownPatches_.size(); ++local) addHaloFill(need, local);
  }
}

void GraphBuilder::addReceives(const Stage& stage, std::int64_t stageNumber) {
  std::map<Rank, std::int32_t> messageOf;
  for (const HaloNeed& need : stage) {
    const LabelInfo& info = input_.labels->info(need.label);
    for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
      const Patch& patch = ownPatch(local);
      const Level& level = input_.hierarchy->level(patch.level);
      for (const HaloSource& source : haloSources(level, patch, info.centering, targetOf(need, patch))) {
        const Rank peer = ownerOf(source.patch->id);
        if (peer == input_.rank) continue;
        if (messageOf.count(peer) == 0) {
          messageOf[peer] = static_cast<std::int32_t>(graph_.receives.size());
          graph_.receives.push_back({peer, stageNumber, 0, {}});
          receiveNodes_[peer] = addNode(NodeKind::Receive, graph_.receives.size() - 1, kMessagePriority);
        }
        MessagePlan& message = graph_.receives[static_cast<std::size_t>(messageOf[peer])];
        const HaloUnpack piece{messageOf[peer], message.bytes, source.region};
        message.bytes += source.region.volume() * info.type.bytes();
        const ValueKey key{need.label, need.version};
        arriving_[{key, static_cast<std::int32_t>(local)}].push_back({receiveNodes_[peer], piece});
      }
    }
  }
}

void GraphBuilder::addSends(const Stage& stage, std::int64_t stageNumber) {
  // For each peer the pieces in the receiver's order: by value, by its patch, then as haloSources lists them.
  std::map<Rank, std::vector<PackItem>> pieces;
  for (const HaloNeed& need : stage) {
    const LabelInfo& info = input_.labels->info(need.label);
    std::vector<const Patch*> readers;
    for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
      const Patch& patch = ownPatch(local);
      for (const Patch* reader : haloReaders(input_.hierarchy->level(patch.level), patch, need.halo)) {
        if (ownerOf(reader->id) != input_.rank) readers.push_back(reader);
      }
    }
    const auto byId = [](const Patch* a, const Patch* b) { return a->id < b->id; };
    std::sort(readers.begin(), readers.end(), byId);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    for (const Patch* reader : readers) {
      const Level& level = input_.hierarchy->level(reader->level);
      for (const HaloSource& source : haloSources(level, *reader, info.centering, targetOf(need, *reader))) {
        const std::int32_t local = localOf(source.patch->id);
        if (local < 0) continue;
        const Box region = shift(source.region, Index{} - source.shift);
        pieces[ownerOf(reader->id)].push_back({need.label, generationOf(need.version), local, region, 0});
      }
    }
  }
  for (auto& [peer, items] : pieces) {
    MessagePlan message{peer, stageNumber, 0, {static_cast<std::int64_t>(graph_.packItems.size()), 0}};
    const Node node = addNode(NodeKind::Send, graph_.sends.size(), kMessagePriority);
    for (PackItem& item : items) {
      item.offset = message.bytes;
      message.bytes += item.region.volume() * input_.labels->info(item.label).type.bytes();
      const auto at = std::find_if(stage.begin(), stage.end(), [&](const HaloNeed& n) { return n.label == item.label; });
      ValueState& state = value(item.label, at->version);
      const auto local = static_cast<std::size_t>(item.source);
      addEdge(state.producer[local], node);
      state.readers[local].push_back(node);
      graph_.packItems.push_back(item);
    }
    message.items.end = static_cast<std::int64_t>(graph_.packItems.size());
    graph_.sends.push_back(message);
  }
}

void GraphBuilder::addHaloFill(const HaloNeed& need, std::size_t local) {
  const Patch& patch = ownPatch(local);
  const Level& level = input_.hierarchy->level(patch.level);
  const LabelInfo& info = input_.labels->info(need.label);
  const Box target = targetOf(need, patch);
  HaloFill fill{need.label, generationOf(need.version), static_cast<std::int32_t>(local), {}, {}, {}};
  const Node node = addNode(NodeKind::Halo, graph_.halos.size(), kHaloPriority);
  ValueState& state = value(need.label, need.version);

  fill.copies.begin = static_cast<std::int64_t>(graph_.copies.size());
  for (const HaloSource& source : haloSources(level, patch, info.centering, target)) {
    const std::int32_t from = localOf(source.patch->id);
    if (from < 0) continue;
    graph_.copies.push_back({from, source.region, source.shift});
    addEdge(state.producer[static_cast<std::size_t>(from)], node);
    state.readers[static_cast<std::size_t>(from)].push_back(node);
  }
  fill.copies.end = static_cast<std::int64_t>(graph_.copies.size());

  fill.unpacks.begin = static_cast<std::int64_t>(graph_.unpacks.size());
  for (const auto& [receive, piece] : arriving_[{{need.label, need.version}, static_cast<std::int32_t>(local)}]) {
    graph_.unpacks.push_back(piece);
    addEdge(receive, node);
  }
  fill.unpacks.end = static_cast<std::int64_t>(graph_.unpacks.size());

  fill.boundaries.begin = static_cast<std::int64_t>(graph_.boundaries.size());
  for (const BoundaryPart& part : boundaryParts(level, info.centering, target)) {
    graph_.boundaries.push_back({static_cast<std::int8_t>(part.side), part.region});
  }
  fill.boundaries.end = static_cast<std::int64_t>(graph_.boundaries.size());

  addEdge(state.producer[local], node);
  state.readers[local].push_back(node);
  state.halo[local] = node;
  if (need.version > 0) {
    // The halo is filled in place: those who read the halo of the value before must be through.
    const ValueState& before = value(need.label, need.version - 1);
    if (before.halo[local] >= 0) addEdge(before.halo[local], node);
    for (const Node reader : before.haloReaders[local]) addEdge(reader, node);
  }
  graph_.halos.push_back(fill);
}

void GraphBuilder::addTask(std::int32_t task) {
  for (std::size_t local = 0; local < ownPatches_.size(); ++local) addInstance(task, local);
}

void GraphBuilder::addInstance(std::int32_t task, std::size_t local) {
  const ResolvedTask& resolved = plan_.tasks[static_cast<std::size_t>(task)];
  const Patch& patch = ownPatch(local);
  const Level& level = input_.hierarchy->level(patch.level);
  const Node node = addNode(NodeKind::Task, graph_.instances.size(), plan_.declaration(task).priority);
  TaskInstance instance{task, static_cast<std::int32_t>(local), {static_cast<std::int64_t>(graph_.accesses.size()), 0}};
  for (const ResolvedRead& read : resolved.reads) {
    const Centering centering = input_.labels->info(read.label).centering;
    const auto mode = static_cast<std::uint8_t>(read.version < 0 ? 0 : 1);
    graph_.accesses.push_back({mode, read.label, readBox(level, patch, centering, read.halo)});
    addReadEdges(node, read, local);
  }
  for (const ResolvedWrite& write : resolved.writes) {
    const Centering centering = input_.labels->info(write.label).centering;
    const auto mode = static_cast<std::uint8_t>(write.version == 0 ? 2 : 3);
    graph_.accesses.push_back({mode, write.label, level.ownedBy(patch, centering)});
    addWriteEdges(node, write, local);
  }
  instance.accesses.end = static_cast<std::int64_t>(graph_.accesses.size());
  graph_.instances.push_back(instance);
}

void GraphBuilder::addReadEdges(Node node, const ResolvedRead& read, std::size_t local) {
  ValueState& state = value(read.label, read.version);
  addEdge(read.halo.isZero() ? state.producer[local] : state.halo[local], node);
  state.readers[local].push_back(node);
  if (!read.halo.isZero()) state.haloReaders[local].push_back(node);
}

void GraphBuilder::addWriteEdges(Node node, const ResolvedWrite& write, std::size_t local) {
  if (write.version > 0) {
    const ValueState& before = value(write.label, write.version - 1);
    addEdge(before.producer[local], node);
    for (const Node reader : before.readers[local]) addEdge(reader, node);
  }
  value(write.label, write.version).producer[local] = node;
}

void GraphBuilder::addReductions() {
  std::map<LabelId, std::pair<ReductionKind, std::vector<std::int32_t>>> byLabel;
  for (std::size_t t = 0; t < plan_.tasks.size(); ++t) {
    for (const ContributionDeclaration& c : plan_.declaration(static_cast<std::int32_t>(t)).contributions) {
      auto& [kind, tasks] = byLabel[c.reduction];
      kind = c.kind;
      tasks.push_back(static_cast<std::int32_t>(t));
    }
  }
  for (const auto& [label, entry] : byLabel) {
    const auto& [kind, tasks] = entry;
    const Node node = addNode(NodeKind::Reduce, graph_.reductions.size(), kMessagePriority);
    ReductionPlan reduction{label, kind, {static_cast<std::int64_t>(graph_.contributions.size()), 0}};
    for (Node n = 0; n < node; ++n) {
      if (graph_.nodes[static_cast<std::size_t>(n)].kind != NodeKind::Task) continue;
      const std::int32_t item = graph_.nodes[static_cast<std::size_t>(n)].item;
      const std::int32_t task = graph_.instances[static_cast<std::size_t>(item)].task;
      if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) continue;
      graph_.contributions.push_back({item});
      addEdge(n, node);
    }
    reduction.contributions.end = static_cast<std::int64_t>(graph_.contributions.size());
    graph_.reductions.push_back(reduction);
  }
}

GraphBuilder::Node GraphBuilder::addNode(NodeKind kind, std::size_t item, int priority) {
  graph_.nodes.push_back({kind, static_cast<std::int32_t>(item)});
  graph_.priorities.push_back(priority);
  successors_.emplace_back();
  return static_cast<Node>(graph_.nodes.size()) - 1;
}

void GraphBuilder::addEdge(Node before, Node after) {
  if (before < 0 || before == after) return;
  TESSERA_ASSERT(before < after);
  std::vector<Node>& list = successors_[static_cast<std::size_t>(before)];
  if (list.empty() || list.back() != after) list.push_back(after);
}

void GraphBuilder::finishEdges() {
  graph_.predecessorCounts.assign(graph_.nodes.size(), 0);
  graph_.successorOffsets.push_back(0);
  for (std::vector<Node>& list : successors_) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const Node after : list) {
      ++graph_.predecessorCounts[static_cast<std::size_t>(after)];
      graph_.successorList.push_back(after);
    }
    graph_.successorOffsets.push_back(static_cast<std::int64_t>(graph_.successorList.size()));
  }
}

GraphBuilder::ValueState& GraphBuilder::value(LabelId label, std::int32_t version) {
  ValueState& state = values_[{label, version}];
  if (state.producer.size() != ownPatches_.size()) {
    state.producer.assign(ownPatches_.size(), -1);
    state.halo.assign(ownPatches_.size(), -1);
    state.readers.resize(ownPatches_.size());
    state.haloReaders.resize(ownPatches_.size());
  }
  return state;
}

std::int32_t GraphBuilder::localOf(PatchId patch) const {
  const auto at = std::lower_bound(ownPatches_.begin(), ownPatches_.end(), patch);
  return at == ownPatches_.end() || *at != patch ? -1 : static_cast<std::int32_t>(at - ownPatches_.begin());
}

Box GraphBuilder::targetOf(const HaloNeed& need, const Patch& patch) const {
  const Level& level = input_.hierarchy->level(patch.level);
  return haloTarget(level, patch, input_.labels->info(need.label).centering, need.halo);
}

}  // namespace tessera::detail
