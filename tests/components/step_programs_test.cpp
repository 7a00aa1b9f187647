#include <gtest/gtest.h>

#include "tests/components/cut_component.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/small_decks.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kProgramSteps = 4;
constexpr std::uint64_t kEveryLine = ~std::uint64_t{0};

/// Claims about every deck whose step is cut into a program of several plans.
class CutDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate cut(std::uint64_t lines, Extent patches = {3, 2, 2}) const {
    return deck().patches(alongResolvedAxes(GetParam(), patches)).components(cutComponents(lines));
  }
  Outcome whole() const { return deck().run(kProgramSteps); }

 private:
  /// Halos beyond a level take single coarser cells: those that are interpolated look at coarser cells below
  /// finer ones too, and what an earlier item left there has the means of these already. Levels that take
  /// steps of their own are a program already. Waves read New halos of what fluxes of finer faces have
  /// changed on the coarser level alone: a step reads what the task left that has computed both, and an item
  /// what is there.
  Simulate deck() const {
    Simulate made = smallDeck(GetParam());
    if (hasLevels(GetParam())) made.set("amr.prolongation=\"constant\"").set("amr.subcycle=false");
    if (hasLevels(GetParam()) && GetParam().starts_with("wave/")) made.set("amr.reflux=false");
    return made;
  }
};

TEST_P(CutDeck, ComputesTheBitsOfTheWholeStepOnRanksAndThreads) {
  const Outcome right = whole();
  ASSERT_EQ(right.steps, kProgramSteps);

  for (const std::uint64_t lines : {kEveryLine, std::uint64_t{0b10101}}) {
    for (const int ranks : {1, 2, 5}) {
      const Outcome o = cut(lines).ranks(ranks).threads(ranks % 3).run(kProgramSteps);
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, lines " << lines;
      EXPECT_EQ(o.dt, right.dt);
    }
  }
  EXPECT_EQ(firstDifference(right, cut(kEveryLine).checked().ranks(2).run(kProgramSteps)), "");
  EXPECT_EQ(firstDifference(right, cut(kEveryLine).scratch().threads(2).run(kProgramSteps)), "");
}

TEST_P(CutDeck, ComputesTheBitsOfTheWholeStepUnderSeeds) {
  const Outcome right = whole();

  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 4);
    const Outcome o = cut(kEveryLine).ranks(ranks).seed(seed).run(kProgramSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
}

TEST_P(CutDeck, ComputesTheBitsOfTheWholeStepOnEmulatedDevices) {
  const Outcome right = whole();

  for (const int count : {1, 2}) {
    for (const bool graphs : {false, true}) {
      DeviceOptions devices = firstDevices(DeviceKind::Emulated, count);
      devices.graphs = graphs;
      for (const int threads : {0, 2}) {
        const Outcome o = cut(kEveryLine).ranks(count).threads(threads).devices(devices).run(kProgramSteps);
        EXPECT_EQ(firstDifference(right, o), "")
            << count << " devices, " << threads << " threads" << (graphs ? ", graphs" : "");
      }
    }
  }
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, cut(kEveryLine).checked().devices(devices).run(kProgramSteps)), "");
}

/// A component is cut as the only one of its deck, which has steps enough; those of rmcrt have one.
std::vector<std::string> thatCanBeCut(std::vector<std::string> decks) {
  std::erase_if(decks,
                [](const std::string& deck) { return deck.starts_with("rmcrt/") || componentsOf(deck) > 1; });
  return decks;
}

INSTANTIATE_TEST_SUITE_P(Inputs, CutDeck, ::testing::ValuesIn(thatCanBeCut(coveringDecks())), nameOfDeck);
INSTANTIATE_TEST_SUITE_P(Others, CutDeck, ::testing::ValuesIn(thatCanBeCut(otherDecks())), nameOfDeck);

}  // namespace
}  // namespace tessera::test
