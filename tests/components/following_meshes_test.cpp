// Meshes that follow the solution.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

const char* const kDecks[] = {"advection/bump_following", "heat/spot_following", "euler/sedov_following",
                              "wave/pulse_following"};

class FollowingDeck : public ::testing::TestWithParam<const char*> {
 protected:
  static Simulate deck() { return simulate(GetParam()); }
};

constexpr std::int64_t kFewSteps = 9;

TEST_P(FollowingDeck, GivesTheSameBitsOnAnyRanksThreadsAndPatches) {
  const Outcome right = deck().run(kFewSteps);
  EXPECT_EQ(firstDifference(right, deck().ranks(2).run(kFewSteps)), "");
  EXPECT_EQ(firstDifference(right, deck().ranks(4).threads(2).run(kFewSteps)), "");
  EXPECT_EQ(firstDifference(right, deck().patches({3, 2, 1}).ranks(3).run(kFewSteps)), "");
  EXPECT_EQ(firstDifference(right, deck().scratch().withoutReuse().run(kFewSteps)), "");
  EXPECT_EQ(firstDifference(right, deck().checked().run(kFewSteps)), "");
}

TEST_P(FollowingDeck, GivesTheSameBitsInAnyOrderAndBetweenOtherMeshes) {
  const Outcome right = deck().run(kFewSteps);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 3);
    EXPECT_EQ(firstDifference(right, deck().ranks(ranks).seed(seed).run(kFewSteps)), "") << "seed " << seed;
    EXPECT_EQ(firstDifference(right, deck().ranks(ranks).adoptions(seed).run(kFewSteps)), "")
        << "adoptions of seed " << seed;
  }
}

TEST_P(FollowingDeck, GivesTheSameBitsOnDevices) {
  const Outcome right = deck().run(kFewSteps);
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, deck().devices(devices).ranks(2).run(kFewSteps)), "");
}

TEST_P(FollowingDeck, HasPlansWithoutRaces) {
  const Model model(deck().deck(), builtInComponents());
  for (const int ranks : {1, 3}) {
    std::vector<CompiledGraphs> graphs;
    const OwnedMesh mesh = model.meshOfDeck(ranks);
    for (Rank rank = 0; rank < ranks; ++rank)
      graphs.push_back(model.compile(mesh, rank, ranks, std::int64_t{1} << 28));
    EXPECT_GT(expectNoRaces(graphs), 10);
  }
}

// Halos between levels of steps of their own are gathered as for interpolation, also those that are not.
TEST_P(FollowingDeck, OfSmallTilesHasRoomForHalosThatAreConstantInSpaceAndInterpolatedInTime) {
  const Simulate small =
      deck()
          .set("amr.prolongation='constant'")
          .set("amr.subcycle=true")
          .set("amr.tile=2")
          .set("amr.interval=1")
          .set("amr.max_levels=4")
          .set(GetParam() == std::string("wave/pulse_following") ? "amr.reflux=false" : "amr.reflux=true");
  const Outcome right = Simulate(small).run(3);
  EXPECT_GT(right.end.at("mesh.cells_level_3"), 0.0);
  EXPECT_EQ(firstDifference(right, Simulate(small).ranks(3).run(3)), "");
}

INSTANTIATE_TEST_SUITE_P(Inputs, FollowingDeck, ::testing::ValuesIn(kDecks), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find('/'));
});

TEST(FollowingMeshes, KeepWhatIsConserved) {
  const Outcome pulse = simulate("wave/pulse_following").run();
  EXPECT_NEAR(pulse.end.at("wave.momentum"), pulse.start.at("wave.momentum"), 1e-13);
  EXPECT_GT(pulse.regrids.changes, 5);
  const Outcome bump = simulate("advection/bump_following").run();
  EXPECT_NEAR(bump.end.at("advection.total"), bump.start.at("advection.total"), 1e-14);
  EXPECT_GT(bump.regrids.changes, 5);
  const Outcome spot = simulate("heat/spot_following").set("heat.exact='0'").run();
  EXPECT_NEAR(spot.end.at("heat.total"), spot.start.at("heat.total"), 1e-14);
  EXPECT_GT(spot.regrids.changes, 1);
  const Outcome blast = simulate("euler/sedov_following").run();
  EXPECT_NEAR(blast.end.at("euler.energy"), blast.start.at("euler.energy"), 1e-13);
  EXPECT_NEAR(blast.end.at("euler.mass"), blast.start.at("euler.mass"), 1e-13);
  EXPECT_GT(blast.regrids.changes, 3);
}

// Waves of a pulse at rest, against 64 x 64 cells everywhere; 32 x 32 are six times as far off as these.
TEST(FollowingMeshes, APulseIsNearlyAsGoodAsOnTheFinestCellsEverywhere) {
  const auto middle = [](Simulate run) {
    const Outcome o = run.run();
    return o.end.at("wave.max") - o.end.at("wave.min");
  };
  const double right = middle(
      Simulate(simulate("wave/pulse_following")).set("amr.max_levels=2").set("grid.cells=[128,128,1]"));
  const double followed = middle(simulate("wave/pulse_following"));
  EXPECT_NEAR(followed, right, 0.02 * right);
}

TEST(FollowingMeshes, ABumpIsAsGoodAsOnTheFinestCellsEverywhere) {
  const Outcome followed = simulate("advection/bump_following").run();
  const Outcome fine =
      simulateText(
          "simulation.components = ['advection']\nconstants.width = 0.12\n[grid]\ncells = [96, 96, 1]\n"
          "periodic = [true, true, false]\n[advection]\nvelocity = { x = 1.0, y = 0.5 }\n"
          "initial = 'exp(-((x - 0.35)^2 + (y - 0.4)^2) / width^2)'\n"
          "exact = 'exp(-((x - t - 0.35)^2 + (y - 0.5*t - 0.4)^2) / width^2)'\n[time]\nend = 0.25\ncfl = "
          "0.5\n")
          .run();
  EXPECT_LT(followed.end.at("advection.error_l2"), 1.2 * fine.end.at("advection.error_l2"));
  EXPECT_LT(followed.end.at("mesh.cells_level_2"), 0.5 * 96 * 96);
}

/// A gas at rest in itself, or a vortex, with a refined box that moves through it.
Simulate gasWithMovingBox(const std::string& gas, const std::string& more) {
  return simulateText(
      "simulation.components = ['euler']\n[grid]\ncells = [16, 16, 1]\npatches = [2, 2, 1]\n"
      "periodic = [true, true, false]\n[amr]\nmax_levels = 4\ninterval = 1\ntile = 4\n" +
      more +
      "[[amr.criterion]]\nkind = 'expression'\n"
      "expression = 'abs(x - 0.3 - 20*t) < 0.1 && abs(y - 0.4 - 10*t) < 0.1'\n[euler]\n" +
      gas + "[time]\ncfl = 0.4\nmax_steps = 12\n");
}

TEST(FollowingMeshes, AFreeStreamStaysWhatItIs) {
  const std::string stream =
      "initial.density = '1.3'\ninitial.velocity = { x = 0.7, y = -0.2 }\ninitial.pressure = '0.9'\n";
  for (const char* more : {"", "subcycle = true\n", "regridder = 'clustered'\n"}) {
    const Outcome before = gasWithMovingBox(stream, more).run(0);
    const Outcome after = gasWithMovingBox(stream, more).run();
    EXPECT_GT(after.regrids.changes, 4) << more;
    for (const auto& [name, field] : after.fields) {
      if (name.find("momentum_z") != std::string::npos) continue;
      const WholeField& right = before.fields.at(name.substr(0, name.find(" on ")));
      for (const double value : field.values) {
        if (value != 0.0) {
          ASSERT_NEAR(value, right.values.front(), 1e-13) << name << " " << more;
        }
      }
    }
  }
}

/// Where a restart goes on, and on how many ranks, in the order of the steps.
struct Restart {
  std::int64_t step;
  int ranks;
};

std::vector<double> columnsOf(const Deck& deck, int ranks, const CheckpointReader* from) {
  const ComponentRegistry registry = builtInComponents();
  std::vector<double> columns;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    std::unique_ptr<Simulation> simulation =
        from != nullptr ? std::make_unique<Simulation>(deck, registry, transport, SimulationOptions{}, *from)
                        : std::make_unique<Simulation>(deck, registry, transport, SimulationOptions{});
    simulation->run();
    const std::vector<double> mine = simulation->diagnose();
    if (transport.rank() == 0) columns = mine;
  });
  return columns;
}

std::filesystem::path checkpointAt(const Deck& deck, std::int64_t step) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("following_" + std::to_string(step));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const ComponentRegistry registry = builtInComponents();
  std::filesystem::path written;
  LoopbackWorld world(2);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run();
    CheckpointWriter writer(transport, {.folder = folder});
    const CheckpointResult result = writeCheckpoint(writer, simulation);
    EXPECT_TRUE(result.committed) << result.failure;
    if (transport.rank() == 0) written = result.path;
  });
  return written;
}

TEST(FollowingMeshes, ARestartBeforeAtAndAfterARegridGoesOnAsIfUnbroken) {
  for (const char* name : kDecks) {
    const auto upTo = [name](std::int64_t steps) {
      return Simulate(simulate(name))
          .set("amr.interval=2")
          .set("amr.hysteresis=2")
          .set("time.end=1e9")
          .set("time.max_steps=" + std::to_string(steps))
          .deck();
    };
    const std::vector<double> right = columnsOf(upTo(10), 1, nullptr);
    for (const auto& [step, ranks] : {Restart{3, 1}, Restart{4, 3}, Restart{5, 4}, Restart{6, 2}}) {
      const CheckpointReader checkpoint = CheckpointReader::open(checkpointAt(upTo(step), step));
      EXPECT_EQ(columnsOf(upTo(10), ranks, &checkpoint), right) << name << " from step " << step;
    }
  }
}

std::string faultOf(const std::string& amr) {
  try {
    Model::check(
        simulateText("simulation.components = ['advection']\n[grid]\ncells = [20, 16, 1]\n"
                     "periodic = [true, true, false]\n" +
                     amr + "[advection]\nvelocity = { x = 1.0 }\ninitial = 'x'\n[time]\nmax_steps = 1\n")
            .deck(),
        builtInComponents());
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST(FollowingMeshes, OfADeckThatCannotBeAreRefused) {
  const std::string jump = "[[amr.criterion]]\nkind = 'jump'\nthreshold = 1\nvariable = 'concentration'\n";
  const std::string usual = "[amr]\nmax_levels = 3\ntile = 4\n";
  EXPECT_EQ(faultOf(usual + jump), "");
  EXPECT_THAT(faultOf("[amr]\nmax_levels = 3\ntile = 16\n" + jump), HasSubstr("does not divide"));
  EXPECT_THAT(faultOf("[amr]\nmax_levels = 30\ntile = 4\n" + jump), HasSubstr("lower amr.max_levels"));
  EXPECT_THAT(
      faultOf(usual + "[[amr.criterion]]\nkind = 'jump'\nthreshold = 1\nvariable = 'concentratoin'\n"),
      HasSubstr("did you mean 'concentration'"));
  EXPECT_THAT(faultOf(usual + "buffer = 0\n" + jump), HasSubstr("is too small"));
  EXPECT_THAT(faultOf(usual + jump + "[[grid.level]]\nlevel = 1\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n" +
                      "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n" +
                      "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n"),
              HasSubstr("counts level 0 too"));
}

}  // namespace
}  // namespace tessera::test
