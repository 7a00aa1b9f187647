#include "taskgraph/proof/placement_check.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/task_context.hpp"
#include "tests/graph_fuzz/draw_places.hpp"
#include "tests/taskgraph/every_access.hpp"
#include "tests/taskgraph/placed_rig.hpp"

namespace tessera {
namespace {

using test::edgesOf;
using test::NodePair;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Two levels, and a step with every kind of access.
class PlacementCheckTest : public test::EveryAccess {
 protected:
  /// Each task on one side, drawn.
  static PlaceTask drawn(unsigned seed) {
    return [seed](const TaskDeclaration& task, LevelId level, std::int32_t) {
      std::seed_seq lots{static_cast<unsigned>(task.name.size()), static_cast<unsigned>(task.name.back()),
                         static_cast<unsigned>(task.name[3]), static_cast<unsigned>(level + 1), seed};
      return std::mt19937(lots)() % 2 == 0 ? DeviceAssignment{0} : kOnHost;
    };
  }
  static std::vector<std::string> faultsOf(const std::vector<CompiledGraphs>& graphs,
                                           const std::vector<PlacedGraph>& placed) {
    return checkPlacement(graphs, 1, placed).faults;
  }
};

TEST_F(PlacementCheckTest, AnyPlacementOfEveryKindOfAccessIsProved) {
  std::int64_t added = 0;
  for (const int ranks : {1, 2, 4}) {
    const auto graphs = compile(ranks, static_cast<unsigned>(ranks));
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ranks) + " ranks");
      const auto placed = test::placeAll(graphs, 1, seed < 10 ? drawn(seed) : fuzz::drawPlaces(seed));
      const PlacementReport report = checkPlacement(graphs, 1, placed);
      for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
      EXPECT_GT(report.conflicts, 400);
      added += report.added;
    }
  }
  EXPECT_GT(added, 1000);
}

TEST_F(PlacementCheckTest, AnyPlacementWithPatchesAtHomeIsProved) {
  for (const int ranks : {1, 2}) {
    const auto graphs = compile(ranks, static_cast<unsigned>(ranks));
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ranks) + " ranks");
      const auto homesOf = [&](Rank rank) {
        return fuzz::drawHomes(seed, graphs[static_cast<std::size_t>(rank)].ownPatches.size());
      };
      EXPECT_GT(expectGoodPlacement(
                    graphs, [&](Rank rank) { return fuzz::drawAtHome(seed, homesOf(rank)); }, homesOf),
                400);
    }
  }
}

/// A fill on a device looks for the values of a patch at its home, wherever they were computed.
TEST_F(PlacementCheckTest, ATaskOnAnotherDeviceThanItsPatchsHomeIsFound) {
  const auto graphs = compile(1, 1);
  const std::vector<DeviceAssignment> homes = fuzz::drawHomes(3, graphs[0].ownPatches.size());
  auto elsewhere = homes;
  for (DeviceAssignment& place : elsewhere) place = place == 0 ? DeviceAssignment{1} : DeviceAssignment{0};
  EXPECT_THROW(expectGoodPlacement(
                   graphs, [&](Rank) { return fuzz::drawAtHome(3, elsewhere); }, [&](Rank) { return homes; }),
               InternalError);
}

/// What stands at the ends of an edge: the kind that was added, if any.
PlacedKind addedKind(const PlacedGraph& placed, const NodePair& edge) {
  return std::max(placed.block(edge.first).kind, placed.block(edge.second).kind);
}

/// Between what was not added, and around twins, some edges order what has nothing in common in any place, or
/// what another path by way of the other side orders as well.
TEST_F(PlacementCheckTest, TheLossOfAnyEdgeOfACopyOrAPackIsFound) {
  std::map<PlacedKind, int> found;
  for (const int ranks : {1, 3}) {
    const auto graphs = compile(ranks, static_cast<unsigned>(ranks));
    for (unsigned seed = 0; seed < 3; ++seed) {
      auto placed = test::placeAll(graphs, 1, drawn(seed));
      const PlacedGraph whole = placed[0];
      for (const NodePair& edge : edgesOf(whole)) {
        const PlacedKind kind = addedKind(whole, edge);
        if (kind == PlacedKind::Original || test::leadsAround(whole, edge)) continue;
        placed[0] = test::without(whole, edge);
        if (!checkPlacement(graphs, 1, placed).clean()) {
          ++found[kind];
        } else {
          EXPECT_EQ(kind, PlacedKind::Twin) << test::nodeText(graphs[0], 1, whole, edge.first) << " before "
                                            << test::nodeText(graphs[0], 1, whole, edge.second);
        }
      }
    }
  }
  EXPECT_GT(found[PlacedKind::CopyIn], 100);
  EXPECT_GT(found[PlacedKind::CopyOut], 100);
  EXPECT_GT(found[PlacedKind::Pack], 50);
  EXPECT_GT(found[PlacedKind::Twin], 100);
}

/// Patches dealt out to three devices: what one of them leaves is read on another, with no copy in between.
TEST_F(PlacementCheckTest, TheLossOfAnEdgeBetweenDevicesIsFound) {
  int lost = 0;
  int found = 0;
  const auto graphs = compile(2, 2);
  auto placed = test::placeAll(graphs, 1, [](const TaskDeclaration&, LevelId, std::int32_t local) {
    return local < 0 ? kOnHost : static_cast<DeviceAssignment>(local % 3);
  });
  const PlacedGraph whole = placed[0];
  for (const NodePair& edge : whole.peerEdges) {
    if (test::leadsAround(whole, edge)) continue;
    ++lost;
    placed[0] = test::without(whole, edge);
    if (!checkPlacement(graphs, 1, placed).clean()) ++found;
  }
  EXPECT_GT(found, 30);
  // The others order what has nothing in common in any place.
  EXPECT_GT(2 * found, lost);
}

TEST_F(PlacementCheckTest, AnOldValueThatIsNotBroughtIsFound) {
  const auto graphs = compile(2, 2);
  auto placed = test::placeAll(graphs, 1, drawn(1));
  const std::vector<OldNeed> needs = placed[0].oldNeeds;
  ASSERT_GE(needs.size(), 2U);

  for (std::size_t n = 0; n < needs.size(); ++n) {
    placed[0].oldNeeds = needs;
    placed[0].oldNeeds.erase(placed[0].oldNeeds.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_THAT(
        faultsOf(graphs, placed),
        Contains(AllOf(HasSubstr("a node reads a value that no node has written"), HasSubstr("wanted  Old"),
                       HasSubstr(needs[n].place == kOnHost ? "memory of the host" : "of device 0"))))
        << n;
  }
}

/// A line of two patches: `write` on the device, `change` and `read` on the host.
class PlacementSentences : public ::testing::Test {
 protected:
  PlacementSentences() {
    initial_.task("write").writes(u_).writes(v_).runs<Cpu, Gpu>(test::NoBody{});
    initial_.task("change").modifies(u_).runs<Cpu>(test::NoBody{});
    initial_.task("look").reads(New, v_).contributes(sum_, Sum).runs<Cpu>(test::NoBody{});
    const auto hierarchy = test::mesh({4, 1, 1}, {2, 1, 1}, {false, false, false});
    graphs_ = test::compileAllRanks({&initial_}, hierarchy, labels_, RankMap{0, 0}, 1);
    placed_ = test::placeAll(graphs_, 0, test::onDevice());
  }
  std::vector<std::string> faults() const { return checkPlacement(graphs_, 0, placed_).faults; }
  PlacedBlock& blockOf(PlacedKind kind, LabelId label) {
    return *std::find_if(placed_[0].blocks.begin(), placed_[0].blocks.end(),
                         [&](const PlacedBlock& b) { return b.kind == kind && b.label == label; });
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  ReductionLabel sum_ = labels_.reduction("sum");
  StepPlan initial_{"initial"};
  std::vector<CompiledGraphs> graphs_;
  std::vector<PlacedGraph> placed_;
};

TEST_F(PlacementSentences, TheWholePlacementIsClean) { EXPECT_THAT(faults(), ::testing::IsEmpty()); }

TEST_F(PlacementSentences, ACopyOfTheWrongVariableIsFound) {
  blockOf(PlacedKind::CopyOut, u_.id).label = v_.id;
  EXPECT_THAT(faults(),
              Contains(AllOf(HasSubstr("a node reads a value that no node has written"),
                             HasSubstr("reader  change on "), HasSubstr("in the memory of the host"))));
}

TEST_F(PlacementSentences, ACopyIntoTheDeviceInsteadOfOutOfItIsFound) {
  blockOf(PlacedKind::CopyOut, v_.id).kind = PlacedKind::CopyIn;
  EXPECT_THAT(faults(), Contains(HasSubstr("reader  copy of v into device 0")));
}

TEST_F(PlacementSentences, AnUnorderedCopyIsNamed) {
  const PlacedBlock& copies = blockOf(PlacedKind::CopyOut, u_.id);
  const NodePair edge{copies.firstNode, placed_[0].hostEdges.row(copies.firstNode).front()};
  placed_[0] = test::without(placed_[0], edge);
  EXPECT_THAT(faults(), Contains(AllOf(HasSubstr("two nodes that touch the same memory are not ordered"),
                                       HasSubstr("first    copy of u out of device 0"),
                                       HasSubstr("from write on "), HasSubstr("second   change on "))));
}

TEST_F(PlacementSentences, ATaskInAnotherPlaceThanItsInputsIsFound) {
  for (PlacedBlock& block : placed_[0].blocks) {
    if (block.kind == PlacedKind::Original && block.place == kOnHost && block.count == 2) block.place = 0;
  }
  EXPECT_GT(checkPlacement(graphs_, 0, placed_).faultCount, 0);
}

TEST_F(PlacementSentences, AnEdgeWithinADeviceIsNotTheExecutors) {
  std::swap(placed_[0].deviceEdges.front().first, placed_[0].deviceEdges.front().second);
  EXPECT_FALSE(checkPlacement(graphs_, 0, placed_).clean()) << "a lane that waits for what waits for it";
  placed_[0].deviceEdges.front() = {placed_[0].hostEdges.row(placed_[0].deviceEdges.back().second).front(),
                                    0};
  EXPECT_THAT(faults(), Contains(HasSubstr("a lane keeps an edge that is not within its device")));
  placed_[0].deviceEdges.clear();
  placed_[0].peerEdges = {{0, 1}};
  EXPECT_THAT(faults(), Contains(HasSubstr("lanes keep an edge that is not between devices")));
}

TEST_F(PlacementSentences, ACountThatNoEdgesMakeIsFound) {
  ++placed_[0].hostCounts[0];
  EXPECT_THAT(faults(), Contains(HasSubstr("a count of predecessors is wrong")));
}

}  // namespace
}  // namespace tessera
