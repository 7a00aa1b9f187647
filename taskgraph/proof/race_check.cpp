#include "taskgraph/proof/race_check.hpp"

#include <algorithm>
#include <set>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "taskgraph/proof/touch_collector.hpp"
#include "taskgraph/proof/touch_proof.hpp"

namespace tessera {
namespace {

using detail::DeclaredVersions;
using detail::PackVersions;
using detail::RaceFaults;
using detail::RaceMessages;
using detail::RaceNames;
using detail::Touch;
using detail::TouchCollector;
using detail::TouchProof;
using detail::UnionGraph;

/// One run of the proof.
class RaceProof {
 public:
  RaceProof(std::span<const CompiledGraphs> ranks, std::size_t plan)
      : ranks_(ranks), plan_(plan), nodes_(ranks, plan), names_(ranks, plan, nodes_) {}

  RaceReport run() {
    const RaceMessages messages(ranks_, plan_, faults_);
    for (const RaceMessages::Pair& pair : messages.pairs()) {
      nodes_.addEdge(messageNode(pair.from, NodeKind::Send, pair.send),
                     messageNode(pair.to, NodeKind::Receive, pair.receive));
    }
    for (const CompiledGraphs& rank : ranks_) {
      checkCounts(rank);
      checkComplete(rank);
    }
    const std::vector<std::int64_t> waiting = nodes_.sort();
    if (waiting.empty()) {
      const TouchProof::NodeName name = [this](std::int64_t node) { return names_.node(node); };
      TouchProof proof(ranks_, plan_, nodes_, names_, name, "", faults_);
      conflicts_ = proof.prove(collect(messages));
    } else {
      faults_.add(Message("nodes wait for one another in a cycle")
                      .line("nodes   ", waiting.size(), " on the cycle or after it")
                      .line("first   ", names_.node(waiting.front()))
                      .text());
    }
    return {nodes_.nodeCount(), nodes_.edgeCount(), conflicts_, faults_.count(), faults_.takeTexts()};
  }

 private:
  std::int64_t messageNode(Rank rank, NodeKind kind, std::int32_t message) const {
    const CompiledGraph& graph = ranks_[static_cast<std::size_t>(rank)].plans[plan_];
    for (const NodeBlock& b : graph.blocks) {
      if (b.kind == kind && message >= b.item && message < b.item + b.count) {
        return nodes_.node(rank, b.firstNode + (message - b.item));
      }
    }
    throw InternalError("a message has no node");
  }

  void checkCounts(const CompiledGraphs& rank);
  void checkComplete(const CompiledGraphs& rank);
  std::vector<Touch> collect(const RaceMessages& messages);

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  UnionGraph nodes_;
  RaceNames names_;
  RaceFaults faults_;
  std::int64_t conflicts_ = 0;
};

void RaceProof::checkCounts(const CompiledGraphs& rank) {
  const CompiledGraph& graph = rank.plans[plan_];
  IdVector<NodeId, std::int32_t> counts(graph.nodeCount());
  for (const NodeId node : graph.nodes()) {
    for (const NodeId next : graph.successors(node)) ++counts[next];
  }
  for (const NodeBlock& block : graph.blocks) {
    for (NodeId n = block.firstNode + block.count;
         n < counts.endId() && &graph.blocks[graph.blockOf[n]] == &block; ++n)
      --counts[n];
  }
  for (const NodeId n : counts.ids()) {
    if (counts[n] == graph.predecessorCounts[n]) continue;
    faults_.add(Message("a count of predecessors is wrong")
                    .line("node    ", names_.node(nodes_.node(rank.rank, n)))
                    .line("count   ", graph.predecessorCounts[n], ", but ", counts[n], " edges lead to it")
                    .text());
  }
}

void RaceProof::checkComplete(const CompiledGraphs& rank) {
  const CompiledGraph& graph = rank.plans[plan_];
  const auto levels = static_cast<LevelId>(rank.hierarchy->levels().size());
  std::set<std::pair<TaskId, LevelId>> expected;
  for (const TaskId number : graph.plan->taskIds()) {
    const TaskDeclaration& task = graph.plan->task(number);
    if (task.oncePerRank) expected.insert({number, -1});
    for (LevelId l = 0; l < levels && !task.oncePerRank; ++l) {
      if (task.levels.contains(l, levels - 1)) expected.insert({number, l});
    }
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& block = graph.blocks[b];
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph.unitOf(block);
    const TaskDeclaration& task = graph.declarationOf(unit);
    const Range own = !unit.hasPatch() ? Range{block.firstLocal, block.firstLocal + 1}
                                       : rank.localsOfLevel[static_cast<std::size_t>(unit.level)];
    const bool all = block.count == own.size() && (block.count == 0 || block.firstLocal == own.begin);
    if (unit.part == UnitPart::Release && all) continue;
    if (expected.erase({unit.task, unit.level}) == 0 || !all) {
      faults_.add(Message("a task does not run once on each patch").line("task    ", task.name).text());
    }
    for (const ContributionDeclaration& c : task.contributions) {
      const auto joins = [&](const ReductionPlan& plan) {
        return plan.reduction == c.reduction &&
               std::count(plan.blocks.begin(), plan.blocks.end(), static_cast<std::int32_t>(b)) == 1;
      };
      if (std::count_if(graph.reductions.begin(), graph.reductions.end(), joins) == 1) continue;
      faults_.add(Message("a contribution is not joined").line("task    ", task.name).text());
    }
  }
  for (const auto& [task, level] : expected) {
    faults_.add(Message("a task does not run")
                    .line("task    ", graph.plan->task(task).name, " on level ", level)
                    .text());
  }
}

std::vector<Touch> RaceProof::collect(const RaceMessages& messages) {
  const CompiledGraph& graph = ranks_.front().plans[plan_];
  const DeclaredVersions versions(*graph.plan, graph.carried, graph.standIns, *ranks_.front().hierarchy);
  PackVersions packs;
  for (const CompiledGraphs& rank : ranks_) {
    packs.emplace_back(rank.plans[plan_].packItems.size(), detail::kUnclaimed);
  }
  std::vector<TouchCollector> collectors;
  std::vector<Touch> touches;
  for (const CompiledGraphs& rank : ranks_) {
    collectors.emplace_back(ranks_, plan_, rank.rank, nodes_, versions, messages, faults_);
  }
  for (TouchCollector& collector : collectors) collector.collect(packs, touches);
  for (TouchCollector& collector : collectors) collector.collectSends(packs, touches);
  return touches;
}

}  // namespace

std::int64_t nodesOfAllRanks(std::span<const CompiledGraphs> ranks, std::size_t plan) {
  std::int64_t nodes = 0;
  for (const CompiledGraphs& rank : ranks) nodes += rank.plans[plan].nodeCount();
  return nodes;
}

RaceReport checkRaces(std::span<const CompiledGraphs> ranks, std::size_t plan) {
  TESSERA_EXPECT(!ranks.empty() && plan < ranks.front().plans.size(),
                 "give the graphs of all ranks, and one of their plans");
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    TESSERA_EXPECT(ranks[r].rank == static_cast<Rank>(r), "give the graphs of all ranks in their order");
  }
  const std::int64_t nodes = nodesOfAllRanks(ranks, plan);
  if (nodes > kRaceCheckNodes) {
    throw InternalError(
        Message("a plan is too large to be checked for races")
            .line("plan   ", ranks.front().plans[plan].plan->name())
            .line("nodes  ", nodes, " on all ranks, at most ", kRaceCheckNodes, " are checked")
            .line("fix    check the same deck with fewer patches; the edges follow the same rules")
            .text());
  }
  return RaceProof(ranks, plan).run();
}

std::int64_t expectNoRaces(std::span<const CompiledGraphs> ranks) {
  std::int64_t conflicts = 0;
  for (std::size_t plan = 0; plan < ranks.front().plans.size(); ++plan) {
    const RaceReport report = checkRaces(ranks, plan);
    conflicts += report.conflicts;
    if (report.clean()) continue;
    std::string text = "the compiled plan \"" + ranks.front().plans[plan].plan->name() + "\" has " +
                       std::to_string(report.faultCount) + " fault(s)";
    for (std::size_t n = 0; n < std::min<std::size_t>(report.faults.size(), 5); ++n)
      text += "\n" + report.faults[n];
    throw InternalError(text);
  }
  return conflicts;
}

}  // namespace tessera
