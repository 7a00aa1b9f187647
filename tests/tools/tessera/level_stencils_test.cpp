#include "tools/simulation/deck/level_stencils.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Reads as many cells around its patches as the deck says.
class WideReader final : public Component {
 public:
  std::string name() const override { return "wide"; }
  std::string summary() const override { return "reads far around its patches"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override {
    table.integer("halo").doc("cells read").range(0, 16).defaultsTo(0);
    table.integer("coarser").doc("cells of the coarser level read").range(0, 16).defaultsTo(0);
  }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    u_ = setup.labels.variable<double, Cell>("u");
    setup.labels.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    halo_ = values.integer("halo");
    coarser_ = values.integer("coarser");
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Wide::initial").writes(u_).runs<Cpu>([](const auto&) {});
  }
  void declareStep(StepPlan& step) const override {
    step.task("Wide::read").reads(Old, u_, halo(halo_)).writes(u_).runs<Cpu>([](const auto&) {});
    if (coarser_ == 0) return;
    step.task("Wide::look")
        .on(allButCoarsest())
        .reads(Old, u_, fromCoarser(coarser_))
        .runs<Cpu>([](const auto&) {});
  }

 private:
  Label<double, Cell> u_;
  std::int64_t halo_ = 0;
  std::int64_t coarser_ = 0;
};

ComponentRegistry wideComponents() {
  ComponentRegistry components;
  components.add<WideReader>();
  return components;
}

/// Line 1 is the first of `levels`; cells of 1/16, 1/32 and 1/64.
Deck wideDeck(const std::string& levels, const std::string& wide) {
  return Deck::fromText(levels +
                            "\n[grid]\ncells = [16, 16, 1]\npatches = [2, 1, 1]\n"
                            "[simulation]\ncomponents = ['wide']\n[time]\nmax_steps = 1\ndt = 1\n[wide]\n" +
                            wide,
                        "deck.toml");
}

// The second box is 2 cells of level 1 from the end of the first one at the right, more elsewhere.
const char* const kNestedBoxes =
    "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n"
    "[[grid.level]]\nlower = [0.5, 0.375, 0]\nupper = [0.6875, 0.5, 1]\n";

std::string faultOfWide(const Deck& deck) {
  const ComponentRegistry components = wideComponents();
  checkDeck(deck, components).throwIfErrors();
  try {
    Model::check(deck, components);
  } catch (const DeckError& error) {
    return error.message();
  }
  return "";
}

TEST(LevelStencils, AsFarAsTheLevelBelowGoesIsNoFault) {
  EXPECT_EQ(faultOfWide(wideDeck(kNestedBoxes, "halo = 4")), "");

  const Deck deck = wideDeck(kNestedBoxes, "halo = 4");
  const Model model(deck, wideComponents());
  EXPECT_NO_THROW(model.compile(model.meshOfDeck(1), 0, 1, 1 << 20));
}

TEST(LevelStencils, ABoxTooNearToTheEndOfTheLevelBelowIsNamedWithItsLine) {
  EXPECT_THAT(faultOfWide(wideDeck(kNestedBoxes, "halo = 5")),
              AllOf(HasSubstr("deck.toml:5:"),
                    HasSubstr("the box of level 2, cells [16,12,0]..[21,15,0] of level 1, is too near to the "
                              "end of level 1: \"Wide::read\" reads Old u halo(5), which reaches cells that "
                              "are on no patch of level 2 or 1; enlarge the boxes of level 1, or make this "
                              "one smaller"),
                    Not(HasSubstr("box of level 1, cells"))));
}

TEST(LevelStencils, WhatIsReadOfTheCoarserLevelHasToLieOnTheOneBelowThat) {
  const std::string third = std::string(kNestedBoxes) +
                            "[[grid.level]]\nlower = [0.5625, 0.40625, 0]\nupper = [0.625, 0.46875, 1]\n";

  // To the right of the third box level 2 ends after 4 of its cells, and level 1 after 8 of them.
  EXPECT_EQ(faultOfWide(wideDeck(third, "coarser = 8")), "");
  EXPECT_THAT(faultOfWide(wideDeck(third, "coarser = 9")),
              AllOf(HasSubstr("deck.toml:8:"), HasSubstr("\"Wide::look\" reads Old u fromCoarser(9), which "
                                                         "reaches cells that are on no patch of level 2 or "
                                                         "1")));
}

TEST(LevelStencils, AcrossAPeriodTheOtherEndCounts) {
  const std::string levels =
      "[[grid.level]]\nlower = [0, 0, 0]\nupper = [0.5, 1, 1]\n"
      "[[grid.level]]\nlevel = 1\nlower = [0.875, 0, 0]\nupper = [1, 1, 1]\n"
      "[[grid.level]]\nlower = [0, 0, 0]\nupper = [0.25, 1, 1]\n";
  const auto fault = [&](const char* wide) {
    Deck deck = wideDeck(levels, wide);
    deck.set("grid.periodic=[true,true,false]");
    return faultOfWide(deck);
  };

  EXPECT_EQ(fault("halo = 8"), "");
  EXPECT_THAT(fault("halo = 9"), AllOf(HasSubstr("deck.toml:9:"), HasSubstr("the box of level 2")));
}

}  // namespace
}  // namespace tessera
