#include "tools/simulation/deck/grid_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Line 1 is the first of `levels`; the mesh has 8 x 4 cells of 0.25 x 0.25.
Deck deckWith(const std::string& levels, const std::string& component = "levels") {
  return Deck::fromText(levels +
                            "\n[grid]\ncells = [8, 4, 1]\nupper = [2, 1, 1]\npatches = [2, 1, 1]\n"
                            "[simulation]\ncomponents = [\"" +
                            component + "\"]\n[time]\nmax_steps = 1\n",
                        "deck.toml");
}

std::vector<RefinedLevel> levelsOf(const Deck& deck) {
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  return refinedLevelsOf(valuesOf(deck, schemaFor(deck, registry), "grid"));
}

std::string faultsOf(const Deck& deck) { return checkDeck(deck, builtInComponents()).text(); }

TEST(GridLevels, ABoxIsSnappedOutwardToCellsOfTheCoarserLevel) {
  const auto levels = levelsOf(deckWith(R"(
[[grid.level]]
lower = [0.3, 0.25, 0]
upper = [1.2, 0.6, 1]
[[grid.level]]
ratio = 4
lower = [0.5, 0.4, 0.2]
upper = [0.8, 0.5, 0.3]
)"));

  ASSERT_THAT(levels, SizeIs(2));
  EXPECT_EQ(levels[0].ratio, 2);
  EXPECT_EQ(levels[0].boxes[0], (Box{{1, 1, 0}, {5, 3, 1}}));
  EXPECT_EQ(levels[1].ratio, 4);
  // Cells of 0.125; z is not resolved, so its single cell is taken whole.
  EXPECT_EQ(levels[1].boxes[0], (Box{{4, 3, 0}, {7, 4, 1}}));
}

TEST(GridLevels, ACornerOnTheBorderOfACellStaysThereInSpiteOfRounding) {
  const auto levels = levelsOf(deckWith(R"(
[[grid.level]]
lower = [0.7500000000001, 0.2499999999999, 0]
upper = [1.0000000000001, 0.7499999999999, 1]
)"));

  EXPECT_EQ(levels[0].boxes[0], (Box{{3, 1, 0}, {4, 3, 1}}));
}

TEST(GridLevels, SeveralEntriesOfOneLevelAreItsBoxes) {
  const auto levels = levelsOf(deckWith(R"(
[[grid.level]]
ratio = 4
patch_size = [4, 8, 1]
lower = [0, 0, 0]
upper = [0.5, 1, 1]
[[grid.level]]
level = 1
lower = [1, 0, 0]
upper = [1.5, 1, 1]
[[grid.level]]
lower = [1.125, 0.25, 0]
upper = [1.25, 0.5, 1]
)"));

  ASSERT_THAT(levels, SizeIs(2));
  EXPECT_THAT(levels[0].boxes, SizeIs(2));
  EXPECT_EQ(levels[0].ratio, 4);
  EXPECT_EQ(levels[0].patchSize, (Extent{4, 8, 1}));
  EXPECT_EQ(levels[1].ratio, 2);
  EXPECT_EQ(levels[1].patchSize, (Extent{64, 64, 1}));
}

TEST(GridLevels, TheModelHasTheLevelsOfTheDeck) {
  const Model model(deckWith("[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\npatch_size = [4, 8, 1]"),
                    builtInComponents());

  const OwnedMesh mesh = model.meshOfDeck(1);
  ASSERT_THAT(mesh.hierarchy->levels(), SizeIs(2));
  EXPECT_EQ(mesh.hierarchy->level(1).cellCount(), 64);
  EXPECT_THAT(mesh.hierarchy->level(1).patches(), SizeIs(2));
  EXPECT_THAT(model.identity().deckText, HasSubstr("[[grid.level]]  # deck.toml:1"));
}

struct BadLevels {
  const char* name;
  const char* levels;
  const char* place;
  const char* says;
};

class BadGridLevels : public ::testing::TestWithParam<BadLevels> {};

TEST_P(BadGridLevels, AreNamedWithTheirLineAndAFix) {
  EXPECT_THAT(faultsOf(deckWith(GetParam().levels)),
              AllOf(HasSubstr(GetParam().place), HasSubstr(GetParam().says)));
}

const char* const kFirst = "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n";
const std::string kOverlap =
    std::string(kFirst) + "[[grid.level]]\nlevel = 1\nlower = [0.5, 0, 0]\nupper = [2, 1, 1]";
const std::string kNotNested =
    std::string(kFirst) + "[[grid.level]]\nlower = [0.5, 0, 0]\nupper = [1.1, 1, 1]";
const std::string kRatios =
    std::string(kFirst) + "[[grid.level]]\nlevel = 1\nratio = 4\nlower = [1, 0, 0]\nupper = [2, 1, 1]";

INSTANTIATE_TEST_SUITE_P(
    , BadGridLevels,
    ::testing::Values(
        BadLevels{"Outside", "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1.5, 1]",
                  "deck.toml:3:", "leaves the domain along y"},
        BadLevels{"Inverted", "[[grid.level]]\nlower = [0.5, 0, 0]\nupper = [0.5, 1, 1]",
                  "deck.toml:3:", "above lower on each axis, but is not on x"},
        BadLevels{"Ratio", "[[grid.level]]\nratio = 3\nlower = [0, 0, 0]\nupper = [1, 1, 1]",
                  "deck.toml:2:", "give 2 or 4"},
        BadLevels{"Eighths", "[[grid.level]]\nratio = 8\nlower = [0, 0, 0]\nupper = [1, 1, 1]",
                  "deck.toml:2:", "a ratio of 8 is for levels that cover the domain"},
        BadLevels{"Missing", "[[grid.level]]\nupper = [1, 1, 1]", "deck.toml:1:", "lower"},
        BadLevels{"Gap", "[[grid.level]]\nlevel = 2\nlower = [0, 0, 0]\nupper = [1, 1, 1]",
                  "deck.toml:2:", "there is no level 1 below level 2"},
        BadLevels{"Overlap", kOverlap.c_str(), "deck.toml:6:", "overlaps [0,0,0]..[3,3,0]"},
        BadLevels{"NotNested", kNotNested.c_str(), "deck.toml:5:", "is not covered by the boxes of level 1"},
        BadLevels{"Ratios", kRatios.c_str(), "deck.toml:6:", "ratio of level 1 differs"},
        BadLevels{"Patches", "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\npatch_size = [0, 1, 1]",
                  "deck.toml:4:", "patch_size"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GridLevels, TooManyLevelsAreNamed) {
  std::string levels;
  for (int n = 0; n < 31; ++n) levels += "[[grid.level]]\nratio = 4\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n";

  EXPECT_THAT(faultsOf(deckWith(levels)), HasSubstr("more than 2^62 cells"));
}

TEST(GridLevels, TooManyPatchesAreNamed) {
  std::string levels;
  for (int n = 0; n < 8; ++n)
    levels += "[[grid.level]]\nratio = 4\npatch_size = [1, 1, 1]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n";

  EXPECT_THAT(faultsOf(deckWith(levels)), HasSubstr("make patch_size larger"));
}

/// Says nothing of levels.
class Uniform final : public Component {
 public:
  std::string name() const override { return "uniform"; }
  std::string summary() const override { return "for meshes of one level"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup&) override {}
  void declareInitial(StepPlan&) const override {}
  void declareStep(StepPlan&) const override {}
};

TEST(GridLevels, AComponentThatKnowsNoLevelsIsRefused) {
  ComponentRegistry components;
  components.add<Uniform>();

  EXPECT_THAT(checkDeck(deckWith(kFirst, "uniform"), components).text(),
              HasSubstr("component \"uniform\" cannot compute on several levels; remove [[grid.level]]"));
}

}  // namespace
}  // namespace tessera
