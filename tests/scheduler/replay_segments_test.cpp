#include "scheduler/graph_replay/replay_segments.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/graph_fuzz/draw_case.hpp"
#include "tests/graph_fuzz/draw_places.hpp"
#include "tests/graph_fuzz/fuzz_run.hpp"
#include "tests/graph_fuzz/program.hpp"
#include "tests/taskgraph/placed_rig.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera::detail {
namespace {

using fuzz::drawAtHome;
using fuzz::drawHomes;
using fuzz::drawPlaces;

using test::NoBody;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// A step of two stages on a line of 8 cells in 4 patches with fixed ends: each stage reads halos of what the
/// one before wrote.
class SegmentsOfTwoStages : public ::testing::Test {
 protected:
  SegmentsOfTwoStages() {
    for (const auto& label : {u_, v_}) {
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    }
    initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("first").reads(Old, u_, halo(1)).writes(v_).runs<Cpu, Gpu>(NoBody{});
    step_.task("second").reads(New, v_, halo(1)).writes(u_).runs<Cpu, Gpu>(NoBody{});
  }

  /// Cuts the step, compiled for the first of the ranks that `owners` names, with patches on these devices.
  void cut(const RankMap& owners, std::vector<DeviceAssignment> homes) {
    const int ranks = *std::max_element(owners.begin(), owners.end()) + 1;
    graphs_ = test::compileAllRanks({&initial_, &step_}, hierarchy_, labels_, owners, ranks, BufferReuse::On,
                                    WindowSharing::Off)
                  .front();
    const auto place = [&](const TaskDeclaration&, LevelId, std::int32_t local) {
      return homes[static_cast<std::size_t>(local)];
    };
    placed_ = placeGraph(graphs_, 1, place, homes);
    segments_ = replaySegments(graphs_.plans[1], placed_);
  }
  std::vector<std::string> nodesOf(DeviceAssignment device, std::int32_t segment) const {
    std::vector<std::string> texts;
    for (std::int32_t n = 0; n < placed_.nodeCount(); ++n) {
      if (placed_.blockOf[static_cast<std::size_t>(n)] < 0 || placed_.place(n) != device) continue;
      if (segments_[static_cast<std::size_t>(n)] == segment) {
        texts.push_back(test::nodeText(graphs_, 1, placed_, n));
      }
    }
    return texts;
  }
  SegmentPeers peersOf(DeviceAssignment device) const { return segmentPeers(placed_, segments_, device); }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  std::shared_ptr<const Hierarchy> hierarchy_ = test::mesh({8, 1, 1}, {4, 1, 1}, {false, false, false});
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  CompiledGraphs graphs_;
  PlacedGraph placed_;
  std::vector<std::int32_t> segments_;
};

TEST_F(SegmentsOfTwoStages, OnOneDeviceAreOne) {
  cut({0, 0, 0, 0}, {0, 0, 0, 0});

  EXPECT_EQ(nodesOf(0, 0).size(), 16U);
  EXPECT_TRUE(peersOf(0).edges.empty());
  EXPECT_TRUE(peersOf(0).predecessors.empty());
}

TEST_F(SegmentsOfTwoStages, OnTwoDevicesAreWhatTheOtherWaitsForWhatNeedsNoOtherAndWhatDoes) {
  cut({0, 0, 0, 0}, {0, 0, 1, 1});

  EXPECT_THAT(nodesOf(0, 0), UnorderedElementsAre("fill of u for 1", "first on 1"));
  EXPECT_THAT(nodesOf(0, 1),
              UnorderedElementsAre("fill of u for 0", "first on 0", "fill of v for 0", "second on 0"));
  EXPECT_THAT(nodesOf(0, 2), UnorderedElementsAre("fill of v for 1", "second on 1"));
  EXPECT_THAT(nodesOf(1, 0), UnorderedElementsAre("fill of u for 2", "first on 2"));
  EXPECT_THAT(nodesOf(1, 2), UnorderedElementsAre("fill of v for 2", "second on 2"));
}

TEST_F(SegmentsOfTwoStages, TellTheLaneOfTheOtherDeviceOfEachPairOnce) {
  cut({0, 0, 0, 0}, {0, 0, 1, 1});

  for (const DeviceAssignment device : {DeviceAssignment{0}, DeviceAssignment{1}}) {
    const SegmentPeers peers = peersOf(device);
    ASSERT_EQ(peers.edges.size(), 1U);
    EXPECT_EQ(peers.edges[0].task, 0);
    EXPECT_EQ(peers.edges[0].lane, 1 - device);
    EXPECT_EQ(peers.edges[0].peerTask, 2);
    EXPECT_THAT(peers.predecessors, ElementsAre(0, 0, 1));
  }
}

TEST_F(SegmentsOfTwoStages, OfARankPackFirst) {
  cut({0, 0, 0, 1}, {0, 1, 1});

  // Old of patch 2 for rank 1 first; of the rest there is what device 0 waits for, before it takes messages.
  EXPECT_THAT(nodesOf(1, 0), UnorderedElementsAre("pack to 1"));
  EXPECT_THAT(nodesOf(1, 1), UnorderedElementsAre("fill of u for 1", "first on 1"));
}

/// What starts when all that any node in it waits for is done: a segment of a device, or a node of the host.
class Wholes {
 public:
  explicit Wholes(std::size_t ranks) : numbers_(ranks) {}

  std::size_t of(std::size_t rank, const PlacedGraph& placed, const std::vector<std::int32_t>& segments,
                 std::int32_t node) {
    const DeviceAssignment place = placed.place(node);
    const std::int32_t part = place == kOnHost ? node : segments[static_cast<std::size_t>(node)];
    const auto [found, isNew] = numbers_[rank].try_emplace({place, part}, after_.size());
    if (isNew) {
      after_.emplace_back();
      before_.push_back(0);
    }
    return found->second;
  }
  void addEdge(std::size_t first, std::size_t then) {
    if (first == then) return;
    after_[first].push_back(then);
    ++before_[then];
  }
  /// How many there are, and how many can start when whatever they wait for can.
  std::size_t count() const { return after_.size(); }
  std::size_t canStart() const {
    std::vector<std::size_t> missing = before_;
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < missing.size(); ++n) {
      if (missing[n] == 0) order.push_back(n);
    }
    for (std::size_t n = 0; n < order.size(); ++n) {
      for (const std::size_t next : after_[order[n]]) {
        if (--missing[next] == 0) order.push_back(next);
      }
    }
    return order.size();
  }

 private:
  std::vector<std::map<std::pair<DeviceAssignment, std::int32_t>, std::size_t>> numbers_;  ///< by rank
  std::vector<std::vector<std::size_t>> after_;
  std::vector<std::size_t> before_;
};

/// One plan on all ranks, placed and cut.
class CutPlan {
 public:
  CutPlan(const std::vector<CompiledGraphs>& ranks, std::size_t plan, std::vector<PlacedGraph> placed)
      : ranks_(ranks), plan_(plan), placed_(std::move(placed)), wholes_(ranks.size()) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      segments_.push_back(replaySegments(ranks[r].plans[plan], placed_[r]));
      addEdges(r);
    }
    addMessages();
  }

  const Wholes& wholes() const { return wholes_; }
  std::int64_t peerEdges() const { return peerEdges_; }
  /// The counts and edges that lanes get are those of pairs of segments with an edge between their nodes.
  void expectLinks() const {
    for (std::size_t r = 0; r < placed_.size(); ++r) {
      std::map<std::tuple<DeviceAssignment, std::int32_t, DeviceAssignment, std::int32_t>, int> pairs;
      for (const auto& [first, then] : placed_[r].peerEdges) {
        pairs[{placed_[r].place(first), segments_[r][static_cast<std::size_t>(first)], placed_[r].place(then),
               segments_[r][static_cast<std::size_t>(then)]}] = 1;
      }
      std::size_t told = 0;
      std::size_t waited = 0;
      for (DeviceAssignment device = 0; device < kMostDevices; ++device) {
        const SegmentPeers peers = segmentPeers(placed_[r], segments_[r], device);
        for (const PeerEdge& edge : peers.edges) {
          EXPECT_EQ(pairs.count({device, edge.task, static_cast<DeviceAssignment>(edge.lane), edge.peerTask}),
                    1U);
        }
        told += peers.edges.size();
        for (const std::int32_t count : peers.predecessors) waited += static_cast<std::size_t>(count);
      }
      EXPECT_EQ(told, pairs.size());
      EXPECT_EQ(waited, pairs.size());
    }
  }

 private:
  static constexpr DeviceAssignment kMostDevices = 3;  ///< that random placements have

  std::size_t of(std::size_t rank, std::int32_t node) {
    return wholes_.of(rank, placed_[rank], segments_[rank], node);
  }

  void addEdges(std::size_t r) {
    const PlacedGraph& placed = placed_[r];
    for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
      for (const std::int32_t then : placed.hostEdges.row(n)) wholes_.addEdge(of(r, n), of(r, then));
    }
    for (const auto& [first, then] : placed.deviceEdges) {
      EXPECT_LE(segments_[r][static_cast<std::size_t>(first)], segments_[r][static_cast<std::size_t>(then)]);
      wholes_.addEdge(of(r, first), of(r, then));
    }
    for (const auto& [first, then] : placed.peerEdges) wholes_.addEdge(of(r, first), of(r, then));
    peerEdges_ += std::ssize(placed.peerEdges);
  }

  void addMessages() {
    std::map<std::tuple<Rank, Rank, std::int64_t>, std::size_t> receives;  // by sender, receiver, tag
    const auto forEach = [&](NodeKind kind, const auto& visit) {
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const CompiledGraph& graph = ranks_[r].plans[plan_];
        const std::vector<MessagePlan>& messages = kind == NodeKind::Send ? graph.sends : graph.receives;
        for (const NodeBlock& block : graph.blocks) {
          if (block.kind != kind) continue;
          for (std::int32_t n = 0; n < block.count; ++n) {
            visit(messages[static_cast<std::size_t>(block.item + n)], ranks_[r].rank,
                  of(r, block.firstNode + n));
          }
        }
      }
    };
    forEach(NodeKind::Receive, [&](const MessagePlan& message, Rank here, std::size_t whole) {
      receives[{message.peer, here, message.tag}] = whole;
    });
    forEach(NodeKind::Send, [&](const MessagePlan& message, Rank here, std::size_t whole) {
      wholes_.addEdge(whole, receives.at({here, message.peer, message.tag}));
    });
  }

  const std::vector<CompiledGraphs>& ranks_;
  const std::size_t plan_;
  const std::vector<PlacedGraph> placed_;
  std::vector<std::vector<std::int32_t>> segments_;  ///< by rank
  Wholes wholes_;
  std::int64_t peerEdges_ = 0;
};

/// All plans of all ranks, by task and by patch; returns how many edges between devices there were.
std::int64_t expectNoCycle(const std::vector<CompiledGraphs>& ranks, std::uint64_t seed) {
  std::int64_t peerEdges = 0;
  for (std::size_t plan = 0; plan < ranks.front().plans.size(); ++plan) {
    for (const bool atHome : {false, true}) {
      std::vector<PlacedGraph> placed;
      for (const CompiledGraphs& rank : ranks) {
        const std::uint64_t ofRank = seed + static_cast<std::uint64_t>(rank.rank);
        const std::vector<DeviceAssignment> homes = drawHomes(ofRank, rank.ownPatches.size());
        placed.push_back(atHome ? placeGraph(rank, plan, drawAtHome(ofRank, homes), homes)
                                : placeGraph(rank, plan, drawPlaces(ofRank)));
      }
      const CutPlan cut(ranks, plan, std::move(placed));
      EXPECT_EQ(cut.wholes().canStart(), cut.wholes().count()) << "plan " << plan << ", at home " << atHome;
      cut.expectLinks();
      peerEdges += cut.peerEdges();
    }
  }
  return peerEdges;
}

TEST(ReplaySegmentsOfRandomGraphs, DoNotWaitInACycleOnAllDevicesOfAllRanks) {
  std::int64_t peerEdges = 0;
  int compiled = 0;
  for (std::int64_t number = 0; compiled < 1000; ++number) {
    fuzz::FuzzCase c = fuzz::drawCase(23, number);
    c.shapes.resize(1);
    c.shapes[0].ranks = 1 + static_cast<int>(number % 4);
    c.shapes[0].scratch = false;
    SCOPED_TRACE(fuzz::replayLine(23, number, {}) + " on " + std::to_string(c.shapes[0].ranks) + " ranks");
    std::optional<fuzz::Program> program;
    std::vector<CompiledGraphs> graphs;
    try {
      program.emplace(c);
      graphs = program->compile(c.shapes[0]);
    } catch (const PlanError&) {
      continue;
    } catch (const DeckError&) {
      continue;
    }
    peerEdges += expectNoCycle(graphs, static_cast<std::uint64_t>(number));
    ++compiled;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(peerEdges, 30'000);
}

}  // namespace
}  // namespace tessera::detail
