#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "tests/components/small_decks.hpp"
#include "tools/tessera/model.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kSteps = 5;

DeviceOptions emulated(DevicePlacement placement) {
  DeviceOptions options;
  options.kind = DeviceKind::Emulated;
  options.placement = placement;
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

/// The tasks that could run on devices, by name, in the order in which they were declared.
std::vector<std::string> deviceTasksOf(const Deck& deck) {
  const Model model(deck, builtInComponents());
  const CompiledGraphs graphs = model.compile(/*rank=*/0, /*ranks=*/1, /*tagBound=*/1 << 20);
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
  Outcome expected() const { return smallDeck(GetParam()).run(kSteps); }
};

TEST_P(PlacementsOfEveryDeck, EachGivesTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const auto placement :
       {DevicePlacement::Auto, DevicePlacement::Gpu, DevicePlacement::Cpu, DevicePlacement::Cost}) {
    for (const int ranks : {1, 2}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(emulated(placement)).run(kSteps);
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
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kSteps);
      EXPECT_EQ(firstDifference(right, o), "") << "from task " << first << ", " << ranks << " ranks";
    }
    const Outcome seeded = small({3, 2, 1}).ranks(2).seed(7 + first).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, seeded), "") << "from task " << first << ", seed " << 7 + first;
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, PlacementsOfEveryDeck, ::testing::ValuesIn(allDecks()),
                         [](const auto& info) { return testName(info.param); });

}  // namespace
}  // namespace tessera::testing
