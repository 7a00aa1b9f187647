#include "taskgraph/race_check.hpp"

#include <algorithm>
#include <set>

#include "core/contracts.hpp"
#include "core/error.hpp"
#include "taskgraph/detail/race_rooms.hpp"
#include "taskgraph/detail/touch_collector.hpp"

namespace tessera {
namespace {

using detail::DeclaredVersions;
using detail::Memory;
using detail::PackVersions;
using detail::RaceFaults;
using detail::RaceMessages;
using detail::RaceNames;
using detail::RaceRooms;
using detail::RoomConflict;
using detail::Touch;
using detail::TouchCollector;
using detail::TouchKind;
using detail::UnionGraph;
using detail::WantedPath;

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
      collect(messages);
      checkMemories();
      checkRooms();
      reportMissing();
    } else {
      faults_.add(Message("nodes wait for one another in a circle")
                      .line("nodes   ", waiting.size(), " on or behind it")
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
        return nodes_.node(rank, b.firstNode + message - b.item);
      }
    }
    throw InternalError("a message has no node");
  }

  void checkCounts(const CompiledGraphs& rank);
  void checkComplete(const CompiledGraphs& rank);
  void collect(const RaceMessages& messages);
  void checkMemories();
  void checkRooms();
  void checkPair(std::size_t a, std::size_t b);
  void checkCovered(std::size_t reader, std::size_t begin, std::size_t end);
  void reportMissing();

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  UnionGraph nodes_;
  RaceNames names_;
  RaceFaults faults_;
  std::vector<Touch> touches_;
  struct Pair {
    std::size_t first = 0;
    std::size_t second = 0;
  };
  std::vector<Pair> pairs_;
  std::vector<WantedPath> wanted_;  ///< reasons are positions in pairs_
  std::int64_t conflicts_ = 0;
};

void RaceProof::checkCounts(const CompiledGraphs& rank) {
  const CompiledGraph& graph = rank.plans[plan_];
  std::vector<std::int32_t> counts(static_cast<std::size_t>(graph.nodeCount()), 0);
  for (std::int32_t node = 0; node < graph.nodeCount(); ++node) {
    for (const std::int32_t next : graph.successors(node)) ++counts[static_cast<std::size_t>(next)];
  }
  for (const NodeBlock& block : graph.blocks) {
    const auto end = static_cast<std::size_t>(block.firstNode + block.count);
    for (std::size_t n = end; n < counts.size() && &graph.blocks[graph.blockOf[n]] == &block; ++n)
      --counts[n];
  }
  for (std::size_t n = 0; n < counts.size(); ++n) {
    if (counts[n] == graph.predecessorCounts[n]) continue;
    faults_.add(Message("a count of predecessors is wrong")
                    .line("node    ", names_.node(nodes_.node(rank.rank, static_cast<std::int64_t>(n))))
                    .line("count   ", graph.predecessorCounts[n], ", but ", counts[n], " edges lead to it")
                    .text());
  }
}

void RaceProof::checkComplete(const CompiledGraphs& rank) {
  const CompiledGraph& graph = rank.plans[plan_];
  const auto levels = static_cast<LevelId>(rank.hierarchy->levels().size());
  std::set<std::pair<std::int32_t, LevelId>> expected;
  std::int32_t number = 0;
  for (const TaskDeclaration& task : graph.plan->tasks()) {
    if (task.oncePerRank) expected.insert({number, -1});
    for (LevelId l = 0; l < levels && !task.oncePerRank; ++l) {
      if (task.levels.contains(l, levels - 1)) expected.insert({number, l});
    }
    ++number;
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& block = graph.blocks[b];
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph.units[static_cast<std::size_t>(block.item)];
    const TaskDeclaration& task = graph.plan->tasks()[static_cast<std::size_t>(unit.task)];
    const Range own = unit.level < 0 ? Range{block.firstLocal, block.firstLocal + 1}
                                     : rank.localsOfLevel[static_cast<std::size_t>(unit.level)];
    const bool all = block.count == own.size() && (block.count == 0 || block.firstLocal == own.begin);
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
    faults_.add(
        Message("a task does not run")
            .line("task    ", graph.plan->tasks()[static_cast<std::size_t>(task)].name, " on level ", level)
            .text());
  }
}

void RaceProof::collect(const RaceMessages& messages) {
  const DeclaredVersions versions(*ranks_.front().plans[plan_].plan, *ranks_.front().hierarchy);
  PackVersions packs;
  for (const CompiledGraphs& rank : ranks_) {
    packs.emplace_back(rank.plans[plan_].packItems.size(), detail::kUnclaimed);
  }
  std::vector<TouchCollector> collectors;
  for (const CompiledGraphs& rank : ranks_) {
    collectors.emplace_back(ranks_, plan_, rank.rank, nodes_, versions, messages, faults_);
  }
  for (TouchCollector& collector : collectors) collector.collect(packs, touches_);
  for (TouchCollector& collector : collectors) collector.collectSends(packs, touches_);
  std::stable_sort(touches_.begin(), touches_.end(),
                   [](const Touch& a, const Touch& b) { return a.memory < b.memory; });
}

void RaceProof::checkMemories() {
  for (std::size_t begin = 0; begin < touches_.size();) {
    std::size_t end = begin;
    while (end < touches_.size() && touches_[end].memory == touches_[begin].memory) ++end;
    for (std::size_t a = begin; a < end; ++a) {
      if (touches_[a].kind == TouchKind::Read) checkCovered(a, begin, end);
      for (std::size_t b = a + 1; b < end; ++b) checkPair(a, b);
    }
    begin = end;
  }
}

/// Memories of different variables in the same bytes.
void RaceProof::checkRooms() {
  for (const RoomConflict& conflict : RaceRooms(ranks_, plan_).conflicts(touches_, nodes_)) {
    const Pair pair{conflict.first, conflict.second};
    const std::int64_t before = touches_[pair.first].node;
    const std::int64_t after = touches_[pair.second].node;
    // A node that touches both is no path from itself to itself: the two have to lie apart.
    wanted_.push_back({before, after, static_cast<std::int64_t>(pairs_.size())});
    pairs_.push_back(pair);
  }
}

/// Decides from the versions which of two touches has to come first.
void RaceProof::checkPair(std::size_t a, std::size_t b) {
  const Touch& one = touches_[a];
  const Touch& two = touches_[b];
  if (one.node == two.node || !(one.writes() || two.writes())) return;
  const Box overlap = intersect(one.box, two.box);
  if (overlap.empty()) return;
  if (one.writes() && two.writes() && one.version == two.version) {
    faults_.add(Message("two nodes write the same value")
                    .line("first   ", names_.node(one.node))
                    .line("second  ", names_.node(two.node))
                    .line("where   ", asText(overlap), " of ", names_.memory(one.memory))
                    .text());
    return;
  }
  // A write comes before the reads of its version; everything else goes by version.
  const bool oneFirst = one.version != two.version ? one.version < two.version : one.writes();
  const Pair pair = oneFirst ? Pair{a, b} : Pair{b, a};
  const std::int64_t before = touches_[pair.first].node;
  const std::int64_t after = touches_[pair.second].node;
  if (before < 0) return;
  if (after < 0) {
    faults_.add(Message("a node writes where the step before has left a value that is still read")
                    .line("node    ", names_.node(before))
                    .line("where   ", asText(overlap), " of ", names_.memory(one.memory))
                    .text());
    return;
  }
  wanted_.push_back({before, after, static_cast<std::int64_t>(pairs_.size())});
  pairs_.push_back(pair);
}

void RaceProof::checkCovered(std::size_t reader, std::size_t begin, std::size_t end) {
  const Touch& read = touches_[reader];
  std::vector<Box> left{read.box};
  for (std::size_t n = begin; n < end && !left.empty(); ++n) {
    const Touch& write = touches_[n];
    if (!write.writes() || write.version != read.version) continue;
    std::vector<Box> next;
    for (const Box& part : left) {
      if (intersect(part, write.box).empty()) {
        next.push_back(part);
      } else {
        for (const Box& rest : subtract(part, write.box)) next.push_back(rest);
      }
    }
    left.swap(next);
  }
  if (left.empty()) return;
  faults_.add(Message("a node reads what nobody has written")
                  .line("reader  ", names_.node(read.node))
                  .line("where   ", asText(left.front()), " of ", names_.memory(read.memory))
                  .line("wanted  ", read.memory.kind == Memory::Kind::Entry ||
                                            read.memory.kind == Memory::Kind::Gather ||
                                            read.memory.kind == Memory::Kind::Scratch
                                        ? names_.value(read.memory.label, read.version)
                                        : "what is there")
                  .text());
}

void RaceProof::reportMissing() {
  // One path serves all pairs of the same two nodes.
  std::sort(wanted_.begin(), wanted_.end(), [](const WantedPath& a, const WantedPath& b) {
    return a.before != b.before ? a.before < b.before
           : a.after != b.after ? a.after < b.after
                                : a.reason < b.reason;
  });
  const auto same = [](const WantedPath& a, const WantedPath& b) {
    return a.before == b.before && a.after == b.after;
  };
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end(), same), wanted_.end());
  conflicts_ = static_cast<std::int64_t>(wanted_.size());
  for (const WantedPath& path : nodes_.missing(wanted_)) {
    const Pair& pair = pairs_[static_cast<std::size_t>(path.reason)];
    const Touch& before = touches_[pair.first];
    const Touch& after = touches_[pair.second];
    const char* kind = !before.writes() ? "write after read"
                       : after.writes() ? "write after write"
                                        : "read after write";
    faults_.add(Message("two nodes that touch the same memory are not ordered")
                    .line("first    ", names_.node(before.node), before.writes() ? " writes" : " reads")
                    .line("second   ", names_.node(after.node), after.writes() ? " writes" : " reads")
                    .line("where    ", before.memory == after.memory
                                           ? asText(intersect(before.box, after.box)) + " of " +
                                                 names_.memory(before.memory)
                                           : names_.memory(before.memory) + ", whose bytes are also " +
                                                 names_.memory(after.memory))
                    .line("missing  an edge, or a path, from the first to the second (", kind, ")")
                    .text());
  }
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
        Message("a plan is too large to look for races")
            .line("plan   ", ranks.front().plans[plan].plan->name())
            .line("nodes  ", nodes, " on all ranks, at most ", kRaceCheckNodes, " are looked at")
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
