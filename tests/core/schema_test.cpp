#include "core/deck/schema.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "tests/core/sample_schema.hpp"

namespace tessera {
namespace {

using test::sampleDeck;
using test::sampleSchema;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Deck sample() { return Deck::fromText(sampleDeck(), "spot.toml"); }

TEST(Schema, AcceptsTheSampleDeck) { EXPECT_EQ(check(sample(), sampleSchema()).text(), ""); }

TEST(ParameterValues, GiveWhatTheDeckSays) {
  const Deck deck = sample();
  const Schema schema = sampleSchema();
  const ParameterValues grid = valuesOf(deck, schema, "grid");
  const ParameterValues heat = valuesOf(deck, schema, "heat");

  EXPECT_EQ(grid.integers3("cells"), (Index{64, 64, 64}));
  EXPECT_EQ(grid.vector3("upper"), (Real3{1, 1, 1}));
  EXPECT_THAT(grid.booleans3("periodic"), ElementsAre(true, true, false));
  EXPECT_EQ(grid.where("cells").text(), "spot.toml:7:9");
  EXPECT_EQ(heat.real("conductivity"), 1.0);
  EXPECT_EQ(heat.choice("boundary.z_low.type"), "dirichlet");
  EXPECT_EQ(heat.expression("initial")(0.5, 0.5, 0.5, 0), 1.0);
  EXPECT_TRUE(heat.expression("boundary.z_high.value").dependsOnTime());
  EXPECT_THAT(valuesOf(deck, schema, "simulation").texts("components"), ElementsAre("heat"));
  EXPECT_EQ(valuesOf(deck, schema, "checkpoint").integer("every_steps"), 100);
}

TEST(ParameterValues, FillInDefaults) {
  const ParameterValues grid = valuesOf(sample(), sampleSchema(), "grid");
  const ParameterValues heat = valuesOf(sample(), sampleSchema(), "heat");

  EXPECT_EQ(grid.vector3("lower"), (Real3{0, 0, 0}));
  EXPECT_EQ(grid.where("lower").text(), "default");
  EXPECT_EQ(heat.choice("boundary.x_low.type"), "neumann");
  EXPECT_TRUE(heat.expression("source").isConstant());
  EXPECT_FALSE(valuesOf(sample(), sampleSchema(), "output").boolean("compress"));
  EXPECT_FALSE(grid.has("patches"));
  EXPECT_TRUE(grid.tables("level").empty());
}

TEST(ParameterValues, AskingWronglyIsAnInternalError) {
  const ParameterValues grid = valuesOf(sample(), sampleSchema(), "grid");
  EXPECT_THROW(grid.real("no_such_name"), InternalError);
  EXPECT_THROW(grid.has("no_such_name"), InternalError);
  EXPECT_THROW(grid.real("cells"), InternalError);
  EXPECT_THROW(grid.integers("patches"), InternalError);
  EXPECT_THROW(valuesOf(sample(), sampleSchema(), "no_such_table"), InternalError);
}

TEST(ParameterValues, ListsOfTablesKeepTheirOrder) {
  const Deck deck =
      Deck::fromText(sampleDeck() +
                         "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n"
                         "[[grid.level]]\nlower = [0.25, 0, 0]\nupper = [0.5, 1, 1]\nratio = 4\n",
                     "d");
  const auto levels = valuesOf(deck, sampleSchema(), "grid").tables("level");

  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].integer("ratio"), 2);
  EXPECT_EQ(levels[1].integer("ratio"), 4);
  EXPECT_EQ(levels[1].vector3("lower").x, 0.25);
  EXPECT_EQ(levels[1].table(), "grid.level[1]");
}

TEST(ParameterValues, OfAFaultyTableAreRefused) {
  Deck deck = sample();
  deck.set("grid.cells=[0, 1, 1]");
  EXPECT_THROW(valuesOf(deck, sampleSchema(), "grid"), DeckError);
  EXPECT_NO_THROW(valuesOf(deck, sampleSchema(), "heat"));
}

TEST(Constants, MayUseThoseAbove) {
  const Constants constants = constantsOf(sample());
  ASSERT_EQ(constants.size(), 2U);
  EXPECT_EQ(constants[1].name, "twice");
  EXPECT_EQ(constants[1].value, 0.2);
}

TEST(Parameter, DeclarationsThatContradictThemselvesAreInternalErrors) {
  ParameterTable table("t", "");
  EXPECT_THROW(table.real("a").above(0).defaultsTo(0), InternalError);
  EXPECT_THROW(table.real("b").defaultsTo(2).atMost(1), InternalError);
  EXPECT_THROW(table.integer("c").defaultsTo(1.5), InternalError);
  EXPECT_THROW(table.choice("d", {"x", "y"}).defaultsTo("z"), InternalError);
  EXPECT_THROW(table.realVector("e", 3).defaultsTo({1.0, 2.0}), InternalError);
  EXPECT_THROW(table.expression("f", {"x"}).defaultsTo("x + t"), InternalError);
  EXPECT_THROW(table.real("a"), InternalError);
  EXPECT_THROW(table.real("a.b"), InternalError);
  EXPECT_THROW(table.real("Capital"), InternalError);
  EXPECT_THROW(table.real("dot."), InternalError);
  EXPECT_THROW(table.arrayOf("g.h", ""), InternalError);
}

TEST(Schema, TablesHaveDifferentNames) {
  Schema schema = sampleSchema();
  EXPECT_THROW(schema.add(ParameterTable("heat", "")), InternalError);
  EXPECT_THROW(schema.add(ParameterTable("wave", "")), InternalError);
  EXPECT_THROW(schema.addUnselected(ParameterTable("notes", "")), InternalError);
}

TEST(Schema, ARuleRunsOnlyWhenItsTableIsRightByItself) {
  ParameterTable table("t", "");
  table.integer("a").atLeast(0);
  table.check([](const ParameterValues& t, DeckDiagnostics& findings) {
    if (t.integer("a") % 2 != 0) findings.error(t.where("a"), "'t.a' must be even");
  });
  Schema schema;
  schema.add(table);

  EXPECT_EQ(check(Deck::fromText("[t]\na = 3\n", "d"), schema).text(), "d:2:5: error: 't.a' must be even");
  EXPECT_EQ(check(Deck::fromText("[t]\na = -3\n", "d"), schema).text(),
            "d:2:5: error: 't.a' is -3; it must be at least 0");
}

TEST(DeckDiagnostics, WarningsDoNotStopARun) {
  DeckDiagnostics findings;
  findings.warning(DeckLocation(), "odd");
  EXPECT_NO_THROW(findings.throwIfErrors());
  findings.error(DeckLocation(), "bad");
  EXPECT_THROW(findings.throwIfErrors(), DeckError);
}

TEST(DeckDiagnostics, AMillionWrongKeysEndInShortText) {
  std::string text = "[time]\n";
  for (int i = 0; i < 100'000; ++i) text += "wrong_key_" + std::to_string(i) + " = 1\n";
  const std::string complaint = check(Deck::fromText(text, "d"), sampleSchema()).text();
  EXPECT_THAT(complaint, HasSubstr("only the first 200 are shown"));
  EXPECT_LT(complaint.size(), 40'000U);
}

/// One-letter slips at the end of a word; a change at its start could make it a neighbour of another key.
std::vector<std::string> typosOf(const std::string& word) {
  const std::string start = word.substr(0, word.size() - 1);
  std::vector<std::string> typos = {start, start + "q", word + word.back(), word + "q"};
  const std::size_t n = word.size();
  if (n > 1 && word[n - 1] != word[n - 2]) typos.push_back(word.substr(0, n - 2) + word[n - 1] + word[n - 2]);
  return typos;
}

void expectSuggestion(const std::string& text, const std::string& suggestion) {
  const std::string complaint = check(Deck::fromText(text, "d"), sampleSchema()).text();
  EXPECT_THAT(complaint, HasSubstr("did you mean " + suggestion + "?")) << text;
}

void expectTyposOf(const ParameterTable& table, const std::string& header, int& count) {
  for (const Parameter& parameter : table.parameters()) {
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = parameter.name().find('.', begin);
      const std::string prefix = parameter.name().substr(0, begin);
      const std::string word = parameter.name().substr(begin, end - begin);
      for (const std::string& typo : typosOf(word)) {
        expectSuggestion(header + prefix + typo + " = 1\n", "'" + prefix + word + "'");
        ++count;
      }
    }
    if (parameter.type() == ParameterType::Tables) {
      expectTyposOf(parameter.nested(), "[[" + table.name() + "." + parameter.name() + "]]\n", count);
    }
  }
}

TEST(Schema, EveryKeyIsSuggestedForItsTypos) {
  int count = 0;
  const Schema schema = sampleSchema();
  for (const ParameterTable& table : schema.tables()) {
    expectTyposOf(table, "[" + table.name() + "]\n", count);
    for (const std::string& typo : typosOf(table.name()))
      expectSuggestion("[" + typo + "]\n", "[" + table.name() + "]");
  }
  EXPECT_GT(count, 200);
}

TEST(ResolvedText, SaysWhereEachValueCameFrom) {
  Deck deck = sample();
  deck.set("time.cfl=0.25");
  const std::string text = resolvedText(deck, sampleSchema());

  EXPECT_THAT(text, HasSubstr("\n[grid]\nlower = [0.0, 0.0, 0.0]  # default\n"));
  EXPECT_THAT(text, HasSubstr("cells = [64, 64, 64]  # spot.toml:7\n"));
  EXPECT_THAT(text, HasSubstr("cfl = 0.25  # command line\n"));
  EXPECT_THAT(text, HasSubstr("# patches  # unset\n"));
  EXPECT_THAT(text, HasSubstr("boundary.z_low.type = \"dirichlet\"  # spot.toml:17\n"));
  EXPECT_THAT(text, HasSubstr("twice = \"2*width\"  # spot.toml:22\n"));
  EXPECT_THAT(text, HasSubstr("[notes]\nauthor = \"a person\""));
}

/// Everything after the equals signs, without the origins.
std::string withoutOrigins(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    out += line.substr(0, line.rfind("  # ")) + "\n";
    at = end + 1;
  }
  return out;
}

TEST(ResolvedText, IsADeckWithTheSameValues) {
  Deck deck = Deck::fromText(
      sampleDeck() +
          "[[grid.level]]\nlower = [0.1, 1e-300, 0]\nupper = [1, 1.7976931348623157e308, 1]\n"
          "[[grid.level]]\nlower = [0, 0, 0]\nupper = [0.30000000000000004, 1, 1]\nratio = 4\n",
      "odd \n name.toml");
  deck.set("simulation.title=\"a \\\"b\\\" \\u0001 # ü\"");
  deck.set("notes.free = { list = [1, [2.0, nan]], \"odd key\" = true }");
  const Schema schema = sampleSchema();
  ASSERT_EQ(check(deck, schema).text(), "");

  const std::string once = resolvedText(deck, schema);
  const Deck again = Deck::fromText(once, "resolved.toml");

  EXPECT_EQ(check(again, schema).text(), "");
  EXPECT_EQ(withoutOrigins(resolvedText(again, schema)), withoutOrigins(once));
  EXPECT_TRUE(changedParameters(deck, again, schema).empty());
  const auto level = valuesOf(again, schema, "grid").tables("level")[1];
  EXPECT_EQ(level.vector3("upper").x, 0.30000000000000004);
}

TEST(ResolvedText, LeavesDefaultsWhatNobodyHasGiven) {
  const Schema schema = sampleSchema();
  const std::string text = resolvedText(sample(), schema);
  const ParameterValues grid = valuesOf(Deck::fromText(text, "resolved.toml"), schema, "grid");

  EXPECT_TRUE(grid.isGiven("cells"));
  EXPECT_FALSE(grid.isGiven("lower"));
  EXPECT_EQ(grid.vector3("lower").x, 0.0);
  // Another deck may say "# default" wherever it likes.
  const ParameterValues other =
      valuesOf(Deck::fromText(text.substr(text.find('\n') + 1), "other.toml"), schema, "grid");
  EXPECT_TRUE(other.isGiven("lower"));
}

TEST(Describe, TextNamesEveryKeyOfEveryTable) {
  const Schema schema = sampleSchema();
  const std::string text = describe(schema, DescribeFormat::Text);

  EXPECT_THAT(text, HasSubstr("[time]  When the run ends and how long a step is\n"
                              "  end (s): a number, greater than 0; required; may change on restart\n"
                              "      physical time at which the run ends\n"));
  EXPECT_THAT(text, HasSubstr("  cfl: a number, in (0, 1]; default 0.9\n"));
  EXPECT_THAT(text, HasSubstr("[[grid.level]]  a finer level\n"));
  EXPECT_THAT(text, HasSubstr("[wave]"));
  EXPECT_THAT(text, HasSubstr("[constants]"));
  for (const ParameterTable& table : schema.tables()) {
    for (const Parameter& parameter : table.parameters()) EXPECT_THAT(text, HasSubstr(parameter.name()));
  }
}

TEST(Describe, OneTableOnly) {
  const std::string text = describe(sampleSchema(), DescribeFormat::Text, "wave");
  EXPECT_EQ(text,
            "[wave]  Second-order wave equation\n"
            "  speed (m/s): a number, greater than 0; required\n"
            "      speed of the wave\n");
  try {
    describe(sampleSchema(), DescribeFormat::Text, "hea");
    FAIL() << "an unknown table was described";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("simulation, grid, time, heat, output, checkpoint, wave"));
  }
}

TEST(Describe, MarkdownIsATable) {
  EXPECT_EQ(describe(sampleSchema(), DescribeFormat::Markdown, "wave"),
            "## `[wave]`\n\nSecond-order wave equation\n\n"
            "| key | value | unit | default | restart | meaning |\n|---|---|---|---|---|---|\n"
            "| `speed` | a number, greater than 0 | m/s | required | fixed | speed of the wave |\n");
}

TEST(Describe, JsonSchemaFollowsTheTree) {
  const auto schema = nlohmann::json::parse(describe(sampleSchema(), DescribeFormat::JsonSchema));

  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], nlohmann::json({"simulation", "grid", "time", "heat"}));
  const auto& properties = schema["properties"];
  EXPECT_EQ(properties["time"]["properties"]["cfl"]["exclusiveMinimum"], 0);
  EXPECT_EQ(properties["time"]["properties"]["cfl"]["maximum"], 1);
  EXPECT_EQ(properties["grid"]["properties"]["cells"]["minItems"], 3);
  EXPECT_EQ(properties["grid"]["properties"]["cells"]["items"]["minimum"], 1);
  EXPECT_EQ(properties["grid"]["properties"]["level"]["items"]["properties"]["ratio"]["default"], 2);
  EXPECT_EQ(properties["heat"]["properties"]["initial"]["type"], nlohmann::json({"number", "string"}));
  EXPECT_EQ(properties["heat"]["properties"]["boundary"]["properties"]["x_low"]["properties"]["type"]["enum"],
            nlohmann::json({"dirichlet", "neumann", "outflow"}));
}

std::vector<std::pair<std::string, std::string>> changesOf(const Deck& before, const Deck& after) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const ParameterChange& change : changedParameters(before, after, sampleSchema())) {
    found.emplace_back(change.name, change.oldValue + " -> " + change.newValue);
  }
  return found;
}

TEST(ChangedParameters, AreThoseThatARestartMayNotChange) {
  const Deck before = sample();
  Deck after = sample();
  for (const char* free :
       {"time.end=5", "simulation.title=\"other\"", "output.every=1", "notes.author=\"b\""})
    after.set(free);
  EXPECT_TRUE(changesOf(before, after).empty());

  after.set("grid.cells=[32, 64, 64]");
  after.set("time.dt=0.5");
  after.set("heat.boundary.x_low.value=1");
  after.set("constants.width=0.2");
  EXPECT_THAT(
      changesOf(before, after),
      ElementsAre(std::pair("grid.cells", "[64, 64, 64] -> [32, 64, 64]"),
                  std::pair("time.dt", "unset -> 0.5"), std::pair("heat.boundary.x_low.value", "0.0 -> 1.0"),
                  std::pair("constants.width", "0.1 -> 0.2"), std::pair("constants.twice", "0.2 -> 0.4")));
}

TEST(ChangedParameters, WrittenDefaultsAreNoChange) {
  Deck after = sample();
  after.set("time.cfl=0.9");
  after.set("grid.lower=[0.0, 0, 0]");
  EXPECT_TRUE(changesOf(sample(), after).empty());
}

TEST(ChangedParameters, LooksIntoListsOfTables) {
  const std::string level = "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n";
  const Deck none = sample();
  const Deck one = Deck::fromText(sampleDeck() + level, "d");
  const Deck other = Deck::fromText(sampleDeck() + level + "ratio = 4\n", "d");

  EXPECT_THAT(changesOf(none, one), ElementsAre(std::pair("grid.level", "0 tables -> 1 tables")));
  EXPECT_THAT(changesOf(one, other), ElementsAre(std::pair("grid.level[0].ratio", "2 -> 4")));
}

}  // namespace
}  // namespace tessera
