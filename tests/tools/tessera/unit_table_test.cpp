#include "tools/simulation/deck/unit_table.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/text/unit_product.hpp"
#include "grid/label.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/run_settings.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

Deck deckInUnits(const std::string& units) {
  return Deck::fromText(
      "simulation.components = ['heat']\nheat = { conductivity = 1, initial = 0 }\ngrid.cells = [4, 4, 1]\n"
      "time.max_steps = 1\n" +
          units,
      "deck.toml");
}

std::string unitOfVariable(const Model& model, const std::string& name) {
  for (LabelId id = 0; id < model.labels().count(); ++id) {
    if (model.labels().info(id).name == name) return model.labels().info(id).unit;
  }
  return "there is no " + name;
}

std::map<std::string, std::string> unitsOfColumns(const Model& model) {
  std::map<std::string, std::string> units;
  for (const Diagnostic& column : model.diagnostics()) units[column.name] = column.unit;
  return units;
}

TEST(Units, NamesStandInThePlaceOfWords) {
  const UnitNames units{{{"length", "m"}, {"time", "s"}, {"mass", "kg"}}};
  EXPECT_EQ(units.in("length"), "m");
  EXPECT_EQ(units.in("mass/(length time)^2"), "kg/(m s)^2");
  EXPECT_EQ(units.in("energy/mass"), "energy/kg");
  EXPECT_EQ(units.in("K"), "K");
  EXPECT_EQ(units.in("lengths"), "lengths");
  EXPECT_EQ(units.in(""), "");
}

TEST(Units, WithoutTheTableWordsStay) { EXPECT_EQ(UnitNames{}.in("length^2/time"), "length^2/time"); }

TEST(Units, OfProductsHaveEachWordOnce) {
  EXPECT_EQ(unitProduct("kg/m^3 * m^3"), "kg");
  EXPECT_EQ(unitProduct("K * m^3"), "K m^3");
  EXPECT_EQ(unitProduct("kg/(m^2 s) * m^3"), "kg m/s");
  EXPECT_EQ(unitProduct("1/s * 1/s"), "1/s^2");
  EXPECT_EQ(unitProduct("m/(s (kg m)^2) * 1"), "1/(m s kg^2)");
  EXPECT_EQ(unitProduct("m^-3 * m^3"), "1");
}

TEST(Units, ThatAreNoProductsOfWordsStay) {
  for (const std::string text : {"", "% * m^3", "K*", "K/", "(K m", "K) m", "m^x", "10 km * m^3", "m^100"})
    EXPECT_EQ(unitProduct(text), text);
  EXPECT_EQ((UnitNames{{{"temperature", "K"}}}.inProduct("W/temperature/m")), "W/K/m");
}

TEST(Units, OfColumnsFollowFromTheirVariables) {
  const Deck deck = Deck::fromText(
      "simulation.components = ['euler', 'heat']\n"
      "euler = { initial = { density = 1, pressure = 1 } }\n"
      "heat = { conductivity = 1, initial = 0, exact = '0' }\n"
      "grid.cells = [4, 4, 4]\ntime = { max_steps = 1, dt = 0.1 }\n"
      "units = { length = 'm', time = 's', mass = 'kg', temperature = 'K', energy = 'J', pressure = 'Pa' }\n"
      "[[analysis.region]]\nname = 'all'\nfield = 'gas.density'\nquantities = ['integral', 'mean']\n"
      "[[analysis.profile]]\nname = 'shells'\nfield = 'temperature'\ncentre = [0, 0, 0]\nradius = 1\nbins = "
      "1\n"
      "[[analysis.statistics]]\nname = 'stirring'\nfield = 'temperature'\nwith = 'gas.momentum_x'\n",
      "deck.toml");
  const Model model(deck, builtInComponents());
  const std::map<std::string, std::string> right{{"euler.mass", "kg"},
                                                 {"euler.momentum_x", "kg m/s"},
                                                 {"euler.momentum_y", "kg m/s"},
                                                 {"euler.momentum_z", "kg m/s"},
                                                 {"euler.energy", "J"},
                                                 {"euler.min_density", "kg/m^3"},
                                                 {"euler.min_pressure", "Pa"},
                                                 {"euler.max_mach", "1"},
                                                 {"heat.total", "K m^3"},
                                                 {"heat.min", "K"},
                                                 {"heat.max", "K"},
                                                 {"heat.error_l1", "K"},
                                                 {"heat.error_l2", "K"},
                                                 {"heat.error_max", "K"},
                                                 {"all.integral", "kg"},
                                                 {"all.mean", "kg/m^3"},
                                                 {"shells.000", "K"}};
  EXPECT_EQ(unitsOfColumns(model), right);
  EXPECT_EQ(unitOfVariable(model, "stirring.covariance"), "temperature mass/(length^2 time)");
}

TEST(Units, OfSolvesAreNone) {
  const Deck deck = Deck::fromText(
      "simulation.components = ['poisson']\npoisson = { source = 0, initial = 0, boundary.x_low = { type = "
      "'dirichlet' } }\n"
      "grid.cells = [4, 4, 1]\ntime = { max_steps = 1, dt = 1 }\n",
      "deck.toml");
  const Model model(deck, builtInComponents());
  const std::map<std::string, std::string> right{{"poisson.total", "potential length^3"},
                                                 {"poisson.min", "potential"},
                                                 {"poisson.max", "potential"},
                                                 {"poisson.solve.iterations", "1"},
                                                 {"poisson.solve.residual", "1"}};
  EXPECT_EQ(unitsOfColumns(model), right);
}

TEST(Units, OfAVariableAreOfTheFirstWhoKnowsThem) {
  LabelTable labels;
  const auto asked = labels.variable<double, Cell>("q");  // by a reader, who does not know
  EXPECT_EQ(labels.info(asked.id).unit, "");
  labels.variable<double, Cell>("q", "power/length^3");
  labels.variable<double, Cell>("q", "another one");
  EXPECT_EQ(labels.info(asked.id).unit, "power/length^3");
}

TEST(Units, AreThoseOfTheDeck) {
  const ComponentRegistry registry = builtInComponents();
  const Deck deck = deckInUnits("units = { length = 'cm', time = 'min' }\n");
  const RunSettings settings = settingsOf(deck, schemaFor(deck, registry));
  EXPECT_EQ(settings.units.in("length/time"), "cm/min");
}

TEST(Units, WhatCannotStandOnAnAxisIsRefused) {
  const ComponentRegistry registry = builtInComponents();
  for (const std::string bad : {"", "$m$", "a unit that is far too long for an axis"}) {
    const DeckDiagnostics findings = checkDeck(deckInUnits("units.length = '" + bad + "'\n"), registry);
    EXPECT_THAT(findings.text(), HasSubstr("\"" + bad + "\" is not a unit; use 1 to 24 letters")) << bad;
  }
}

}  // namespace
}  // namespace tessera
