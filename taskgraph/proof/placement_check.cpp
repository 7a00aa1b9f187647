#include "taskgraph/proof/placement_check.hpp"

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "taskgraph/proof/placed_touches.hpp"
#include "taskgraph/proof/placement_shape.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "taskgraph/proof/touch_proof.hpp"

namespace tessera {
namespace {

using detail::PlacedTouches;
using detail::RaceFaults;
using detail::RaceMessages;
using detail::RaceNames;
using detail::TouchProof;
using detail::UnionGraph;

std::string placeName(DeviceAssignment place) {
  return place == kOnHost ? "the host" : "device " + std::to_string(place);
}

std::vector<std::int64_t> nodeCounts(std::span<const PlacedGraph> placed) {
  std::vector<std::int64_t> counts;
  for (const PlacedGraph& rank : placed) counts.push_back(rank.nodeCount());
  return counts;
}

/// One run of the proof.
class PlacementProof {
 public:
  PlacementProof(std::span<const CompiledGraphs> ranks, std::size_t plan, std::span<const PlacedGraph> placed)
      : ranks_(ranks),
        plan_(plan),
        placed_(placed),
        compiled_(ranks, plan),
        nodes_(nodeCounts(placed)),
        names_(ranks, plan, compiled_) {}

  PlacementReport run();

 private:
  const CompiledGraph& graphOf(Rank rank) const {
    return ranks_[static_cast<std::size_t>(rank)].plans[plan_];
  }
  const PlacedGraph& placedOf(Rank rank) const { return placed_[static_cast<std::size_t>(rank)]; }
  void addEdges(const RaceMessages& messages);
  std::int64_t messageNode(Rank rank, NodeKind kind, std::int32_t message) const;
  std::int64_t prove(const RaceMessages& messages);
  std::string nodeName(std::int64_t node) const;

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  std::span<const PlacedGraph> placed_;
  UnionGraph compiled_;
  UnionGraph nodes_;
  RaceNames names_;
  RaceFaults faults_;
};

PlacementReport PlacementProof::run() {
  PlacementReport report;
  report.nodes = nodes_.nodeCount();
  report.added = nodes_.nodeCount() - compiled_.nodeCount();
  bool sound = true;
  for (const CompiledGraphs& rank : ranks_)
    sound = detail::checkShape(graphOf(rank.rank), placedOf(rank.rank), faults_) && sound;
  const RaceMessages messages(ranks_, plan_, faults_);
  if (sound) {
    addEdges(messages);
    report.edges = nodes_.edgeCount();
    const std::vector<std::int64_t> waiting = nodes_.sort();
    if (waiting.empty()) {
      report.conflicts = prove(messages);
    } else {
      faults_.add(Message("placed nodes wait for one another in a cycle")
                      .line("nodes   ", waiting.size(), " on the cycle or after it")
                      .line("first   ", nodeName(waiting.front()))
                      .text());
    }
  }
  report.faultCount = faults_.count();
  report.faults = faults_.takeTexts();
  return report;
}

void PlacementProof::addEdges(const RaceMessages& messages) {
  for (const CompiledGraphs& rank : ranks_) {
    const PlacedGraph& placed = placedOf(rank.rank);
    for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
      for (const std::int32_t then : placed.hostEdges.row(n))
        nodes_.addEdge(nodes_.node(rank.rank, n), nodes_.node(rank.rank, then));
    }
    for (const auto* edges : {&placed.deviceEdges, &placed.peerEdges}) {
      for (const auto& [first, then] : *edges)
        nodes_.addEdge(nodes_.node(rank.rank, first), nodes_.node(rank.rank, then));
    }
  }
  for (const RaceMessages::Pair& pair : messages.pairs()) {
    nodes_.addEdge(messageNode(pair.from, NodeKind::Send, pair.send),
                   messageNode(pair.to, NodeKind::Receive, pair.receive));
  }
}

std::int64_t PlacementProof::messageNode(Rank rank, NodeKind kind, std::int32_t message) const {
  for (const NodeBlock& b : graphOf(rank).blocks) {
    if (b.kind == kind && message >= b.item && message < b.item + b.count)
      return nodes_.node(rank, b.firstNode + message - b.item);
  }
  throw InternalError("a message has no node");
}

std::int64_t PlacementProof::prove(const RaceMessages& messages) {
  std::int64_t conflicts = 0;
  PlacedTouches collector(ranks_, plan_, placed_, compiled_, nodes_, faults_);
  for (auto& [space, touches] : collector.collect(messages)) {
    const TouchProof::NodeName name = [this](std::int64_t node) { return nodeName(node); };
    TouchProof proof(ranks_, plan_, nodes_, names_, name, " in the memory of " + placeName(space), faults_);
    conflicts += proof.prove(std::move(touches));
  }
  return conflicts;
}

std::string PlacementProof::nodeName(std::int64_t node) const {
  if (node < 0) return names_.node(node);
  const Rank rank = nodes_.rankOf(node);
  const std::int32_t local = nodes_.localOf(node);
  const PlacedBlock& block = placedOf(rank).block(local);
  const NodeBlock& of = graphOf(rank).blocks[static_cast<std::size_t>(block.block)];
  const std::int32_t number = placedOf(rank).numberOf(local);
  const std::string name = names_.node(compiled_.node(rank, of.firstNode + number));
  const std::string end = placeName(block.place) + ", placed node " + std::to_string(local);
  switch (block.kind) {
    case PlacedKind::Original:
    case PlacedKind::Twin:
      return name + " on " + end;
    case PlacedKind::Pack:
      return "packing, on " + end + ", for " + name;
    case PlacedKind::CopyIn:
    case PlacedKind::CopyOut:
      break;
  }
  return "copy of " + ranks_.front().labels->info(block.label).name +
         (block.kind == PlacedKind::CopyIn ? " into " : " out of ") + end + ", from " + name;
}

}  // namespace

PlacementReport checkPlacement(std::span<const CompiledGraphs> ranks, std::size_t plan,
                               std::span<const PlacedGraph> placed) {
  TESSERA_EXPECT(ranks.size() == placed.size(), "give a placed graph for each rank");
  std::int64_t nodes = 0;
  for (const PlacedGraph& rank : placed) nodes += rank.nodeCount();
  if (nodes > kRaceCheckNodes) {
    throw InternalError("a placement of " + std::to_string(nodes) +
                        " nodes is too large to be proved; at most " + std::to_string(kRaceCheckNodes));
  }
  return PlacementProof(ranks, plan, placed).run();
}

std::int64_t expectGoodPlacement(std::span<const CompiledGraphs> ranks,
                                 const std::function<PlaceTask(Rank)>& placeOf,
                                 const std::function<std::vector<DeviceAssignment>(Rank)>& homesOf) {
  std::int64_t conflicts = 0;
  for (std::size_t plan = 0; plan < ranks.front().plans.size(); ++plan) {
    std::vector<PlacedGraph> placed;
    for (const CompiledGraphs& rank : ranks) {
      std::vector<DeviceAssignment> homes;
      if (homesOf) homes = homesOf(rank.rank);
      placed.push_back(placeGraph(rank, plan, placeOf(rank.rank), std::move(homes)));
    }
    const PlacementReport report = checkPlacement(ranks, plan, placed);
    conflicts += report.conflicts;
    if (report.clean()) continue;
    std::string text = "placement of plan " + ranks.front().plans[plan].plan->name() + " has " +
                       std::to_string(report.faultCount) + " faults";
    for (const std::string& fault : report.faults) text += "\n" + fault;
    throw InternalError(text);
  }
  return conflicts;
}

}  // namespace tessera
