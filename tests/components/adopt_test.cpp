// Another mesh of the same cells, between any two steps, changes no bit of what a run computes.
#include <filesystem>

#include <gtest/gtest.h>

#include "core/profile/resident_memory.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "tests/components/other_mesh.hpp"
#include "tests/components/several_devices.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kSteps = 5;

class Adopting : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate cut(std::uint64_t seed) const {
    const Extent layouts[] = {{3, 2, 2}, {2, 2, 2}, {4, 1, 2}};
    return smallDeck(GetParam())
        .patches(alongResolvedAxes(GetParam(), layouts[seed % std::size(layouts)]))
        .adoptions(seed, fineCellsArePatches() ? OtherPatches::No : OtherPatches::Yes);
  }
  /// Where rays cross fine cells in their own patch alone, what they see depends on how patches are cut.
  static bool fineCellsArePatches() {
    return GetParam() == "rmcrt/burns_christon_two_level" || GetParam() == "rmcrt/boiler";
  }
  static std::string replay(std::uint64_t seed) { return "adoptions of seed " + std::to_string(seed); }
};

TEST_P(Adopting, OtherMeshesChangesNoBitOnRanksAndThreads) {
  const Outcome right = smallDeck(GetParam()).run(kSteps);
  std::int64_t adoptions = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 4);
    const Outcome o = cut(seed).ranks(ranks).threads(seed % 2 == 0 ? 2 : 0).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << replay(seed) << ", " << ranks << " ranks";
    EXPECT_GE(o.statistics.steps, kSteps) << "of all meshes together";
    adoptions += o.adoptions;
  }
  EXPECT_GT(adoptions, 20);
}

TEST_P(Adopting, OtherMeshesChangesNoBitInAnyOrder) {
  const Outcome right = smallDeck(GetParam()).run(kSteps);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 4);
    const Outcome o = cut(seed).ranks(ranks).seed(seed).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << replay(seed) << ", " << ranks << " ranks";
  }
}

TEST_P(Adopting, OtherMeshesChangesNoBitOnDevices) {
  const Outcome right = smallDeck(GetParam()).run(kSteps);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1 + static_cast<int>(seed % 2));
    const int ranks = 1 + static_cast<int>(seed / 2 % 2);
    const Outcome o = cut(seed).ranks(ranks).threads(1).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << replay(seed) << ", " << ranks << " ranks";
  }
}

TESSERA_ON_COVERING_DECKS(Adopting);

/// Adopts a mesh after each step, and calls `after` then.
class AdoptsEachStep : public RunListener {
 public:
  explicit AdoptsEachStep(OtherMeshes meshes, std::function<void(Simulation&)> after = {})
      : meshes_(std::move(meshes)), after_(std::move(after)) {}

  bool stepped(Simulation& simulation, std::span<const double>) override {
    simulation.adopt(meshes_.draw());
    if (after_) after_(simulation);
    return false;
  }

 private:
  OtherMeshes meshes_;
  std::function<void(Simulation&)> after_;
};

Deck heat(std::int64_t steps) {
  return smallDeck("heat/cosine").set("time.max_steps=" + std::to_string(steps)).set("time.end=1e9").deck();
}

TEST(Adoptions, AThousandOfThemLeaveMemoryAsItWas) {
  const Deck deck = heat(1000);
  const ComponentRegistry registry = builtInComponents();
  LoopbackWorld world(2);
  std::int64_t early = 0;
  std::int64_t late = 0;
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    AdoptsEachStep listener({simulation.mesh().hierarchy, 2, 7}, [&](Simulation& s) {
      if (transport.rank() != 0) return;
      if (s.clock().step() == 200) early = residentBytes();
      if (s.clock().step() == 1000) late = residentBytes();
    });
    simulation.run(listener);
    EXPECT_EQ(simulation.clock().step(), 1000);
  });
  EXPECT_LT(late - early, 4 << 20) << "bytes that 800 adoptions have left";
}

TEST(Adoptions, AreInTheCheckpointAndARestartGoesOnWithThem) {
  const Deck deck = heat(6);
  const ComponentRegistry registry = builtInComponents();
  const Outcome right = smallDeck("heat/cosine").set("time.end=1e9").run(6);
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "adopted_checkpoint";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::path written;
  std::uint64_t hash = 0;
  const Deck half = heat(3);
  LoopbackWorld two(2);
  runRanks(two, [&](Transport& transport) {
    Simulation first(half, registry, transport, {});
    AdoptsEachStep listener({first.mesh().hierarchy, 2, 3});
    first.run(listener);
    OtherMeshes more(first.mesh().hierarchy, 2, 4);
    const std::uint64_t ofDeck = first.model().meshOfDeck(2).hierarchy->hash();
    while (first.hierarchy().hash() == ofDeck) first.adopt(more.draw());
    CheckpointWriter writer(transport, {.folder = folder});
    const CheckpointResult result = writeCheckpoint(writer, first);
    EXPECT_TRUE(result.committed) << result.failure;
    if (transport.rank() != 0) return;
    written = result.path;
    hash = first.hierarchy().hash();
  });

  const CheckpointReader checkpoint = CheckpointReader::open(written);
  EXPECT_EQ(checkpoint.identity().mesh->hash(), hash);
  LoopbackWorld three(3);
  std::vector<double> columns;
  runRanks(three, [&](Transport& transport) {
    Simulation second(deck, registry, transport, {}, checkpoint);
    EXPECT_EQ(second.hierarchy().hash(), hash);
    second.run();
    const std::vector<double> mine = second.diagnose();
    if (transport.rank() == 0) columns = mine;
  });
  ASSERT_EQ(columns.size(), right.end.size());
  std::size_t n = 0;
  const Model model(deck, registry);
  for (const Diagnostic& column : model.diagnostics())
    EXPECT_EQ(columns[n++], right.end.at(column.name)) << column.name;
}

TEST(Adoptions, ANumberThatIsOnItsWayIsKept) {
  const Deck deck = heat(3);
  const ComponentRegistry registry = builtInComponents();
  LoopbackWorld world(2);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run();
    const std::vector<double> right = simulation.diagnose();
    simulation.startDiagnosis();
    simulation.adopt(OtherMeshes(simulation.mesh().hierarchy, 2, 5).draw());
    EXPECT_EQ(simulation.diagnosis(), right);
    EXPECT_EQ(simulation.diagnose(), right) << "on the new mesh";
  });
}

TEST(Adoptions, ATraceIsHandedOverBeforeTheGraphsChange) {
  const Deck deck = heat(6);
  const ComponentRegistry registry = builtInComponents();
  LoopbackWorld world(1);
  const Simulation* running = nullptr;
  std::int64_t steps = 0;
  Trace trace(Trace::Clock::now(), Trace::kUsualBudget, [&](const TraceRecords& records) {
    for (const TracedStep& step : records.steps) {
      const CompiledGraph& graph = running->graphs().plans[step.plan];
      EXPECT_EQ(static_cast<std::int64_t>(step.nodes.size()), graph.nodeCount()) << "of step " << step.step;
      ++steps;
    }
  });
  SimulationOptions options;
  options.trace = &trace;
  Simulation simulation(deck, registry, world.transport(0), options);
  running = &simulation;
  AdoptsEachStep listener({simulation.mesh().hierarchy, 1, 9});
  simulation.run(listener);
  trace.flush();
  EXPECT_GE(steps, 7);
}

TEST(Adoptions, OfAMeshThatThePlansCannotRunOnAreRefusedOnAllRanksAndChangeNothing) {
  const Deck deck = heat(2);
  const ComponentRegistry registry = builtInComponents();
  LoopbackWorld world(2);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run();
    const std::vector<double> right = simulation.diagnose();
    OwnedMesh foreign = simulation.mesh();
    foreign.owners.assign(foreign.owners.size(), 5);
    EXPECT_THROW(simulation.adopt(foreign), AgreedError);
    EXPECT_EQ(simulation.diagnose(), right);
  });
}

}  // namespace
}  // namespace tessera::test
