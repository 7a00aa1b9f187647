#include "tools/simulation/deck/core_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/simulation/deck/run_settings.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

std::string faultsOf(const std::string& grid, const std::string& rest = "[time]\nend = 1\n") {
  const Deck deck = Deck::fromText(
      "[simulation]\ncomponents = [\"heat\"]\n[heat]\nconductivity = 1\ninitial = 0\n[grid]\n" + grid + "\n" +
          rest,
      "d.toml");
  return checkDeck(deck, builtInComponents()).text();
}

RunSettings settingsFor(const std::string& grid) {
  const Deck deck = Deck::fromText(
      "[simulation]\ncomponents = [\"heat\"]\n[heat]\nconductivity = 1\ninitial = 0\n"
      "[time]\nend = 1\n[grid]\n" +
          grid + "\n",
      "d.toml");
  return settingsOf(deck, schemaFor(deck, builtInComponents()));
}

TEST(CoreSchema, ARightDeckHasNoFaults) { EXPECT_EQ(faultsOf("cells = [8, 8, 8]"), ""); }

TEST(CoreSchema, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(faultsOf("cells = [8, 8, 8]\nupper = [1, 0, 1]"),
              HasSubstr("grid.upper has to be above grid.lower"));
  EXPECT_THAT(faultsOf("cells = [8, 8, 8]\npatches = [1, 1, 1]\npatch_size = [8, 8, 8]"),
              HasSubstr("give one of them"));
  EXPECT_THAT(
      faultsOf("cells = [8, 8, 1]\npatches = [2, 9, 1]"),
      HasSubstr("d.toml:8:11: error: grid.patches asks for 9 patches along y, where there are 8 cells"));
  EXPECT_THAT(faultsOf("cells = [8, 8, 8]", "[time]\ncfl = 0.5\n"), HasSubstr("the run would not end"));
  EXPECT_THAT(faultsOf("cells = [8, 8, 8]", ""), HasSubstr("d.toml:1:1: error: the run would not end"));
  EXPECT_THAT(faultsOf("cells = [8, 8, 8]", "[time]\nend = 1\n[output]\nevery = 0.1\nevery_steps = 3\n"),
              HasSubstr("exclude each other"));
}

TEST(CoreSchema, RefusesGridsThatNoMachineHolds) {
  EXPECT_THAT(faultsOf("cells = [2097152, 2097152, 2097152]"), HasSubstr("2^50"));
  EXPECT_THAT(faultsOf("cells = [1048576, 1048576, 1]\npatch_size = [1, 1, 1]"),
              HasSubstr("patches; make them larger"));
}

TEST(CoreSchema, NamesUnknownAndRepeatedComponents) {
  const auto faults = [](const std::string& list) {
    const Deck deck = Deck::fromText(
        "[simulation]\ncomponents = " + list + "\n[grid]\ncells = [8, 8, 8]\n[time]\nend = 1\n", "d.toml");
    return checkDeck(deck, builtInComponents()).text();
  };
  EXPECT_THAT(
      faults("[\"haet\"]"),
      HasSubstr("d.toml:2:15: error: unknown component \"haet\"; did you mean 'heat'? Known names: heat"));
  EXPECT_THAT(faults("[\"wave\", \"wave\"]"), HasSubstr("named twice"));
  EXPECT_THAT(faults("[]"), HasSubstr("name at least one of"));
}

/// Every name of a table, also those below a dot and in lists of tables: "boundary.x_low.type".
void namesBelow(const ParameterTable& table, const std::string& header,
                std::vector<std::pair<std::string, std::string>>& names) {
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) {
      namesBelow(parameter.nested(), "[[" + table.name() + "." + parameter.name() + "]]", names);
    } else {
      names.emplace_back(header, parameter.name());
    }
  }
}

TEST(CoreSchema, ASlipInAnyKeyOfAnyTableIsAnErrorThatNamesTheKey) {
  std::vector<std::pair<std::string, std::string>> names;
  const Schema schema = schemaOfEverything(builtInComponents());
  for (const ParameterTable& table : schema.tables()) namesBelow(table, "[" + table.name() + "]", names);
  for (const ParameterTable& table : schema.unselected()) namesBelow(table, "[" + table.name() + "]", names);
  EXPECT_GT(names.size(), 50U);

  for (const auto& [header, name] : names) {
    const std::string table = header.substr(1, header.size() - 2);
    const bool isComponent = builtInComponents().make(table) != nullptr;
    const std::string deck = isComponent ? "[simulation]\ncomponents = [\"" + table + "\"]\n" : "";

    const DeckDiagnostics findings =
        checkDeck(Deck::fromText(deck + header + "\n" + name + "q = 1\n", "d.toml"), builtInComponents());

    EXPECT_THAT(findings.text(), HasSubstr("did you mean '" + name + "'?")) << header << " " << name;
  }
}

TEST(RunSettings, UsualPatchesDependOnTheDimensionOnly) {
  EXPECT_EQ(settingsFor("cells = [1000, 1, 1]").division.value, (Extent{256, 1, 1}));
  EXPECT_EQ(settingsFor("cells = [1000, 1000, 1]").division.value, (Extent{64, 64, 1}));
  EXPECT_EQ(settingsFor("cells = [100, 100, 100]").division.value, (Extent{32, 32, 32}));
}

TEST(RunSettings, APatchIsNeverLargerThanTheGrid) {
  EXPECT_EQ(settingsFor("cells = [8, 100, 1]").division.value, (Extent{8, 64, 1}));
  EXPECT_EQ(settingsFor("cells = [8, 8, 1]\npatch_size = [16, 4, 4]").division.value, (Extent{8, 4, 1}));
}

}  // namespace
}  // namespace tessera
