#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tests/components/several_devices.hpp"
#include "tools/simulation/model.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kPlacementsSteps = 5;

DeviceOptions emulated(DevicePlacement placement, int count = 1) {
  DeviceOptions options = firstDevices(DeviceKind::Emulated, count);
  options.placement = placement;
  return options;
}

/// The tasks that could run on devices, by name, in the order in which they were declared.
std::vector<std::string> deviceTasksOf(const Deck& deck) {
  const Model model(deck, builtInComponents());
  const CompiledGraphs graphs =
      model.compile(model.meshOfDeck(1), /*rank=*/0, /*ranks=*/1, /*tagBound=*/1 << 20);
  std::vector<std::string> names;
  for (const CompiledGraph& graph : graphs.plans) {
    for (const TaskDeclaration& task : graph.plan->tasks()) {
      if (task.body.device && std::find(names.begin(), names.end(), task.name) == names.end()) {
        names.push_back(task.name);
      }
    }
  }
  return names;
}

class PlacementsOfEveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate small(Extent patches) const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), patches));
  }
  Outcome expected() const { return smallDeck(GetParam()).run(kPlacementsSteps); }
};

TEST_P(PlacementsOfEveryDeck, EachGivesTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const auto placement :
       {DevicePlacement::Auto, DevicePlacement::Gpu, DevicePlacement::Cpu, DevicePlacement::Cost}) {
    for (const int ranks : {1, 2}) {
      const Outcome o =
          small({3, 2, 2}).ranks(ranks).threads(2).devices(emulated(placement)).run(kPlacementsSteps);
      EXPECT_EQ(firstDifference(right, o), "")
          << "placement " << static_cast<int>(placement) << ", " << ranks << " ranks";
    }
  }
}

TEST_P(PlacementsOfEveryDeck, EveryOtherTaskOnTheHostGivesThemToo) {
  const Outcome right = expected();
  const std::vector<std::string> tasks = deviceTasksOf(smallDeck(GetParam()).deck());
  for (const std::size_t first : {0, 1}) {
    DeviceOptions devices = emulated(DevicePlacement::Gpu);
    for (std::size_t n = first; n < tasks.size(); n += 2) devices.cpuTasks.push_back(tasks[n]);
    for (const int ranks : {1, 2}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kPlacementsSteps);
      EXPECT_EQ(firstDifference(right, o), "") << "from task " << first << ", " << ranks << " ranks";
    }
    DeviceOptions two = emulated(DevicePlacement::Gpu, 2);
    two.cpuTasks = devices.cpuTasks;
    EXPECT_EQ(firstDifference(right, small({3, 2, 2}).threads(2).devices(two).run(kPlacementsSteps)), "")
        << "from task " << first << ", two devices";
    two.graphs = true;
    for (const int ranks : {1, 2}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(two).run(kPlacementsSteps);
      EXPECT_EQ(firstDifference(right, o), "")
          << "from task " << first << ", two devices, as graphs, " << ranks << " ranks";
    }
    const Outcome seeded = small({3, 2, 1}).ranks(2).seed(7 + first).devices(devices).run(kPlacementsSteps);
    EXPECT_EQ(firstDifference(right, seeded), "") << "from task " << first << ", seed " << 7 + first;
  }
}

TEST_P(PlacementsOfEveryDeck, PatchesThatMoveToTheHostAndBackBetweenStepsGiveThemToo) {
  const Outcome right = expected();
  DeviceOptions devices = emulated(DevicePlacement::Cost);
  const auto moving = [&](Extent patches) { return small(patches).hostParts({0.5, 0.2, 1.0, 0.7, 0.0}); };
  for (const int ranks : {1, 2}) {
    const Outcome o = moving({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kPlacementsSteps);
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
  DeviceOptions two = emulated(DevicePlacement::Cost, 2);
  EXPECT_EQ(firstDifference(right, moving({3, 2, 2}).threads(2).devices(two).run(kPlacementsSteps)), "")
      << "two devices";
  two.graphs = true;
  EXPECT_EQ(firstDifference(right, moving({3, 2, 2}).threads(2).devices(two).run(kPlacementsSteps)), "")
      << "two devices, as graphs";
  const Outcome seeded = moving({3, 2, 1}).ranks(2).seed(11).devices(devices).run(kPlacementsSteps);
  EXPECT_EQ(firstDifference(right, seeded), "") << "seed 11";
}

TESSERA_ON_COVERING_DECKS(PlacementsOfEveryDeck);

TEST(PlacementByCost, TriesPartsAndComesToRestWithTheSameBits) {
  const auto run = [](DeviceOptions devices) {
    return smallDeck("heat/eigenmode_2d").patches({2, 2, 1}).threads(2).devices(std::move(devices)).run(1000);
  };
  const Outcome right = smallDeck("heat/eigenmode_2d").run(1000);
  EXPECT_EQ(firstDifference(right, run(emulated(DevicePlacement::Cost))), "");
  DeviceOptions twoAsGraphs = emulated(DevicePlacement::Cost, 2);
  twoAsGraphs.graphs = true;
  EXPECT_EQ(firstDifference(right, run(twoAsGraphs)), "");

  LoopbackWorld world(1);
  SimulationOptions options;
  options.devices = emulated(DevicePlacement::Cost);
  Deck deck = smallDeck("heat/eigenmode_2d").patches({2, 2, 1}).deck();
  deck.set("time.max_steps=1000");
  Simulation simulation(deck, builtInComponents(), world.transport(0), options);
  simulation.run();
  const CostReport report = simulation.costReport();
  EXPECT_TRUE(report.used);
  EXPECT_TRUE(report.settled);
  ASSERT_GE(report.trials.size(), 2U);
  EXPECT_EQ(report.trials[0].first, 0.0) << "devices alone come first";
  EXPECT_EQ(report.trials[1].first, 0.25) << "then one patch of four";
}

}  // namespace
}  // namespace tessera::test
