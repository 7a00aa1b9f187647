#include "tools/simulation/deck/unit_table.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "grid/label.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/run_settings.hpp"

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
