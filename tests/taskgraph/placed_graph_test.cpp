#include "taskgraph/placement/placed_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/placed_rig.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::countOf;
using test::edgeTexts;
using test::NoBody;
using test::nodeText;
using test::onDevice;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// A line of 8 cells in 4 patches, with fixed ends.
class PlacedGraphTest : public ::testing::Test {
 protected:
  PlacedGraphTest() {
    for (const auto& label : {u_, h_})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Neumann));
  }

  /// On `ranks` ranks, patches 0 and 1 on the first of two.
  std::vector<CompiledGraphs> compile(int ranks = 1) const {
    const RankMap owners = ranks == 1 ? RankMap{0, 0, 0, 0} : RankMap{0, 0, 1, 1};
    return test::compileAllRanks({&initial_, &step_}, hierarchy_, labels_, owners, ranks, BufferReuse::On,
                                 WindowSharing::Off);
  }
  /// The placement of the step on the one rank, which is proved.
  PlacedGraph place(const std::vector<CompiledGraphs>& graphs, const PlaceTask& place) const {
    const auto placed = test::placeAll(graphs, 1, place);
    const PlacementReport report = checkPlacement(graphs, 1, placed);
    for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
    return placed.front();
  }
  std::vector<std::string> needs(const PlacedGraph& placed) const {
    std::vector<std::string> texts;
    for (const OldNeed& need : placed.oldNeeds)
      texts.push_back(labels_.info(need.label).name + (need.place == kOnHost ? " on host" : " on device"));
    return texts;
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> h_ = labels_.variable<double, Cell>("h");
  ReductionLabel dt_ = labels_.reduction("dt");
  std::shared_ptr<const Hierarchy> hierarchy_ = test::mesh({8, 1, 1}, {4, 1, 1}, {false, false, false});
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

/// The step of `heat`.
class PlacedHeat : public PlacedGraphTest {
 protected:
  PlacedHeat() {
    initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("advance").reads(Old, u_, halo(1)).writes(u_).runs<Cpu, Gpu>(NoBody{});
    step_.task("limit").reads(New, u_).contributes(dt_, Min).runs<Cpu, Gpu>(NoBody{});
  }
};

TEST_F(PlacedHeat, WhollyOnTheDeviceIsCopiedNowhereAndTellsTheHostOfTheReductionAlone) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice());

  EXPECT_EQ(placed.nodeCount(), graphs[0].plans[1].nodeCount());
  EXPECT_THAT(needs(placed), ElementsAre("u on device"));
  int ofExecutor = 0;
  for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
    const std::string text = nodeText(graphs[0], 1, placed, n);
    const bool told = text == "reduction" || text.rfind("limit", 0) == 0;
    EXPECT_EQ(placed.ofExecutor(n), told) << text;
    EXPECT_EQ(placed.place(n), text == "reduction" ? kOnHost : 0) << text;
    ofExecutor += told ? 1 : 0;
  }
  EXPECT_EQ(ofExecutor, 5);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("fill of u for 2 >> advance on 2"));
  EXPECT_THAT(edges, Contains("advance on 2 >> limit on 2"));
  EXPECT_THAT(edges, Contains("limit on 2 > reduction"));
  EXPECT_EQ(placed.deviceEdges.size(), 8U);
}

TEST_F(PlacedHeat, WhatTheHostReadsOfTheDeviceIsCopiedOutOncePerPatch) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice({"advance"}));

  EXPECT_EQ(countOf(placed, PlacedKind::CopyOut), 4);
  EXPECT_EQ(placed.nodeCount(), graphs[0].plans[1].nodeCount() + 4);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("advance on 3 >> u out of device, of 3"));
  EXPECT_THAT(edges, Contains("u out of device, of 3 > limit on 3"));
  EXPECT_THAT(edges, Not(Contains("advance on 3 > limit on 3")));
  const PlacedBlock& copies = placed.blocks.back();
  EXPECT_EQ(copies.kind, PlacedKind::CopyOut);
  EXPECT_EQ(copies.count, 4);
  EXPECT_EQ(copies.place, 0);
  EXPECT_EQ(copies.label, u_.id);
}

TEST_F(PlacedHeat, WhatTheDeviceReadsOfTheHostIsCopiedIn) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice({"limit"}));

  EXPECT_THAT(needs(placed), ElementsAre("u on host"));
  EXPECT_EQ(countOf(placed, PlacedKind::CopyIn), 4);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("advance on 1 > u into device, of 1"));
  EXPECT_THAT(edges, Contains("u into device, of 1 >> limit on 1"));
}

TEST_F(PlacedHeat, SomePatchesOnTheDeviceCutTheBlocksAndFillEachHaloWhereItIsRead) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, [](const TaskDeclaration&, LevelId, std::int32_t local) {
    return local == 1 || local == 2 ? DeviceAssignment{0} : kOnHost;
  });

  EXPECT_EQ(countOf(placed, PlacedKind::Original), graphs[0].plans[1].nodeCount());
  EXPECT_THAT(needs(placed), ElementsAre("u on host", "u on device"));
  std::vector<std::int32_t> counts;
  for (const PlacedBlock& block : placed.blocks) counts.push_back(block.count);
  EXPECT_THAT(counts, ElementsAre(1, 2, 1, 1, 2, 1, 1, 2, 1, 1)) << "fills, advance, limit, reduction";
  EXPECT_THAT(edgeTexts(graphs[0], 1, placed), Contains("fill of u for 1 >> advance on 1"));
}

TEST_F(PlacedHeat, OnTwoRanksADevicePacksWhatItsTasksWriteInAnyPlan) {
  const auto graphs = compile(2);
  const PlacedGraph placed = place(graphs, onDevice());

  EXPECT_THAT(needs(placed), ElementsAre("u on device"))
      << "the initial plan writes on the host, but only once";
  EXPECT_THAT(placed.packPlaces, ElementsAre(0));
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("pack to 1 > send to 1"));
  EXPECT_THAT(edges, Contains("receive > fill of u for 1"))
      << "the device unpacks what the host has received";
  const PlacedGraph initial = placeGraph(graphs[0], 0, onDevice());
  EXPECT_EQ(initial.nodeCount(), graphs[0].plans[0].nodeCount());
  EXPECT_THAT(initial.oldNeeds, IsEmpty());
}

TEST_F(PlacedHeat, TwoDevicesReadEachOthersOldHalosInTheirOwnMemory) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, [](const TaskDeclaration&, LevelId, std::int32_t local) {
    return static_cast<DeviceAssignment>(local / 2);
  });

  EXPECT_EQ(placed.nodeCount(), graphs[0].plans[1].nodeCount());
  EXPECT_EQ(placed.oldNeeds.size(), 2U);
}

/// Two stages: `half` from Old, `full` from the halo of what it left.
class PlacedStages : public PlacedGraphTest {
 protected:
  PlacedStages() {
    initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("half").reads(Old, u_, halo(1)).writes(h_).runs<Cpu, Gpu>(NoBody{});
    step_.task("full").reads(Old, u_).reads(New, h_, halo(1)).writes(u_).runs<Cpu, Gpu>(NoBody{});
  }
};

TEST_F(PlacedStages, AHaloOfWhatTheDeviceLeftIsFilledOnTheHostFromCopiesOfOwnedCells) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice({"half"}));

  EXPECT_THAT(needs(placed), ElementsAre("u on host", "u on device"));
  EXPECT_EQ(countOf(placed, PlacedKind::CopyOut), 4);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  for (const char* copy : {"0", "1", "2"})
    EXPECT_THAT(edges, Contains("h out of device, of " + std::string(copy) + " > fill of h for 1"));
  EXPECT_THAT(edges, Contains("fill of h for 1 > full on 1"));
}

TEST_F(PlacedStages, TwoRanksPackANewValueWhereItWasWritten) {
  const auto graphs = compile(2);
  const PlacedGraph placed = place(graphs, onDevice({"full"}));

  // Old u lies on the device, where `full` writes it; `half` on the host reads it, so it is brought there,
  // too.
  EXPECT_THAT(needs(placed), ElementsAre("u on host", "u on device"));
  EXPECT_THAT(placed.packPlaces, ElementsAre(0, kOnHost));
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("half on 1 > send to 1"));
  EXPECT_THAT(edges, Contains("h into device, of 1 >> fill of h for 1"));
}

TEST_F(PlacedStages, ANewHaloFromAnotherDeviceIsReadThereAndTheOwnCellsStay) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, [](const TaskDeclaration&, LevelId, std::int32_t local) {
    return static_cast<DeviceAssignment>(local / 2);
  });

  EXPECT_EQ(placed.nodeCount(), graphs[0].plans[1].nodeCount()) << "no copies";
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("half on 2 >>> fill of h for 1"))
      << "an edge of the lanes, from one to the other";
  EXPECT_THAT(edges, Contains("half on 1 >> fill of h for 1"));
  for (std::int32_t node = 0; node < placed.nodeCount(); ++node)
    EXPECT_FALSE(placed.ofExecutor(node)) << "what waits for devices alone is not the executor's";
}

TEST_F(PlacedStages, WhatGoesToAnotherDeviceOnTheSamePatchGoesByWayOfTheHost) {
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, [](const TaskDeclaration& task, LevelId, std::int32_t) {
    return task.name == "half" ? DeviceAssignment{0} : DeviceAssignment{1};
  });

  EXPECT_EQ(countOf(placed, PlacedKind::CopyOut), 4);
  EXPECT_EQ(countOf(placed, PlacedKind::CopyIn), 4);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, Contains("h out of device, of 1 >>> h into device, of 1"));
  EXPECT_THAT(edges, Contains("h into device, of 1 >> fill of h for 1"));
  EXPECT_THAT(edges, Contains("half on 0 >>> fill of h for 1"));
}

TEST_F(PlacedGraphTest, AHaloThatBothSidesReadIsFilledTwice) {
  initial_.task("initial").writes(u_).writes(h_).runs<Cpu>(NoBody{});
  step_.task("device").reads(Old, u_, halo(1)).writes(u_).runs<Cpu, Gpu>(NoBody{});
  step_.task("host").reads(Old, u_, halo(1)).reads(Old, h_).writes(h_).runs<Cpu>(NoBody{});
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice());

  EXPECT_THAT(needs(placed), UnorderedElementsAre("u on host", "u on device", "h on host"));
  EXPECT_EQ(countOf(placed, PlacedKind::Twin), 4);
  const auto edges = edgeTexts(graphs[0], 1, placed);
  EXPECT_THAT(edges, UnorderedElementsAre(
                         "twin fill of u for 0 >> device on 0", "twin fill of u for 1 >> device on 1",
                         "twin fill of u for 2 >> device on 2", "twin fill of u for 3 >> device on 3",
                         "fill of u for 0 > host on 0", "fill of u for 1 > host on 1",
                         "fill of u for 2 > host on 2", "fill of u for 3 > host on 3"));
}

TEST_F(PlacedGraphTest, ChangesInPlaceBringEachVersionToWhereTheNextIsMade) {
  initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
  step_.task("first").writes(h_).runs<Cpu>(NoBody{});
  step_.task("second").modifies(h_, from("first")).runs<Cpu, Gpu>(NoBody{});
  step_.task("third").modifies(h_, from("second")).runs<Cpu>(NoBody{});
  step_.task("early").reads(New, h_, from("first")).writes(u_).runs<Cpu>(NoBody{});
  const auto graphs = compile();
  const PlacedGraph placed = place(graphs, onDevice());

  const auto edges = edgeTexts(graphs[0], 1, placed);
  for (const char* edge : {"first on 2 > h into device, of 2", "h into device, of 2 >> second on 2",
                           "second on 2 >> h out of device, of 2", "h out of device, of 2 > third on 2",
                           "first on 2 > early on 2", "early on 2 > second on 2"}) {
    EXPECT_THAT(edges, Contains(edge)) << "the copy out writes what `early` reads: only after `second`";
  }
  EXPECT_THAT(edges, Not(Contains("first on 2 > second on 2")));
}

TEST_F(PlacedGraphTest, VariablesThatShareMemoryKeepTheirOrderInEachSpace) {
  StepPlan& step = step_;
  Label<double, Cell> a = labels_.variable<double, Cell>("a");
  Label<double, Cell> b = labels_.variable<double, Cell>("b");
  Label<double, Cell> c = labels_.variable<double, Cell>("c");
  initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
  step.task("a").reads(Old, u_).writes(a).runs<Cpu, Gpu>(NoBody{});
  step.task("b").reads(New, a).writes(b).runs<Cpu>(NoBody{});
  step.task("c").reads(New, b).writes(c).runs<Cpu, Gpu>(NoBody{});
  step.task("u").reads(New, c).writes(u_).runs<Cpu>(NoBody{});
  const auto graphs = compile();
  std::map<LabelId, std::int32_t> slotOf;
  for (const LevelStorage& storage : graphs[0].storage) slotOf[storage.label] = storage.slot;
  ASSERT_GE(slotOf[a.id], 0);
  ASSERT_EQ(slotOf[a.id], slotOf[c.id]);

  const PlacedGraph placed = place(graphs, onDevice());

  EXPECT_EQ(countOf(placed, PlacedKind::CopyOut), 8) << "a for b, c for u";
  EXPECT_EQ(countOf(placed, PlacedKind::CopyIn), 4) << "b for c";
}

}  // namespace
}  // namespace tessera
