#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "taskgraph/dump/graph_summary.hpp"
#include "tests/components/several_devices.hpp"
#include "tools/simulation/model.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kBytesOfACell = 16;
constexpr int kRanks = 4;

std::string cubeInPatchesOf4(int coarse, int ratio) {
  const std::string n = std::to_string(coarse);
  return "simulation.components = ['rmcrt']\n"
         "time = { dt = 1, max_steps = 1 }\n"
         "rmcrt = { emissive_power = 1, absorption = 'x', wall_rays = 0 }\n"
         "[grid]\ncells = [" +
         n + ", " + n + ", " + n +
         "]\npatch_size = [4, 4, 4]\n"
         "[[grid.level]]\nratio = " +
         std::to_string(ratio) + "\nlower = [0, 0, 0]\nupper = [1, 1, 1]\npatch_size = [4, 4, 4]\n";
}

struct CubeOnLevels {
  int coarse;
  int ratio;
};

class RmcrtGraph : public ::testing::TestWithParam<CubeOnLevels> {};

// Thousands of patches of one rank read the coarse level, and the rank stores it once: beside it lie only its
// own fine cells, of which the coarse ones are means. Halos that overlap are stored once, too.
TEST_P(RmcrtGraph, TheWholeCoarseLevelIsStoredOnceARank) {
  const auto [coarse, ratio] = GetParam();
  const Model model(Deck::fromText(cubeInPatchesOf4(coarse, ratio), "deck.toml"), builtInComponents());
  const std::int64_t cells = std::int64_t{coarse} * coarse * coarse;
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
  for (const StoragePolicy& storage : {StoragePolicy{}, withDevices({}, devices)}) {
    const CompiledGraphs graphs = model.compile(model.meshOfDeck(kRanks), 1, kRanks, 32767, storage);

    const GraphSummary summary = summarise(graphs, static_cast<std::size_t>(PlanId::Step));

    EXPECT_LE(summary.overhead, 1.05);
    EXPECT_EQ(summary.gathers, kBytesOfACell * (cells + cells * ratio * ratio * ratio / kRanks));
  }
}

INSTANTIATE_TEST_SUITE_P(, RmcrtGraph,
                         ::testing::Values(CubeOnLevels{32, 2}, CubeOnLevels{32, 4}, CubeOnLevels{64, 2}),
                         [](const auto& info) {
                           return std::to_string(info.param.coarse) + "And" +
                                  std::to_string(info.param.coarse * info.param.ratio);
                         });

}  // namespace
}  // namespace tessera::test
