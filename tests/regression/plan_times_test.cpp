// Seconds and counts of each plan of a run with radiation in some steps.
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

const char* const kDeck = R"deck(
simulation.components = ["heat", "rmcrt"]
grid = { cells = [6, 6, 6], patches = [2, 1, 1] }
time = { dt = 0.001, max_steps = 7 }
heat = { conductivity = 0.01, initial = 1, sources = ["-1*rmcrt.divQ"] }
rmcrt = { temperature_from = "temperature", absorption = 0.5, stefan_boltzmann = 1, rays = 20, every = 3 }
output = { every_steps = 7 }
)deck";

TEST(PlanTimes, AreInTheResultAndInTheTrace) {
  const Workplace place;
  place.file("deck.toml", kDeck);

  const ProgramResult run =
      place.tessera({"run", "deck.toml", "--out", "r", "-n", "2", "--threads", "1", "--trace"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  const Json result = Json::parse(place.read("r/result.json"));
  const Json& plans = result["plans"];
  EXPECT_EQ(plans["initial"]["runs"], 1);
  EXPECT_EQ(plans["step"]["runs"], 4);
  EXPECT_EQ(plans["step+radiation"]["runs"], 3);
  EXPECT_GE(plans["diagnostics"]["runs"], 2);
  double sum = 0.0;
  for (const auto& [name, plan] : plans.items()) {
    EXPECT_GT(plan["seconds"], 0.0) << name;
    sum += plan["seconds"].get<double>();
  }
  EXPECT_LE(sum, 2.0 * result["wall_seconds"].get<double>());
  EXPECT_EQ(result["statistics"]["compiles_since_start"], 0.0);

  const ProgramResult summary = place.tessera({"trace", "summary", "r"});
  EXPECT_THAT(summary.out, HasSubstr("step+radiation     3"));
  EXPECT_THAT(summary.out, HasSubstr("step               4"));
}

TEST(PlanTimes, OfRadiationInEveryStepAreThoseOfTheStep) {
  const Workplace place;
  place.file("deck.toml", kDeck);

  const ProgramResult run = place.tessera({"run", "deck.toml", "--out", "r", "--set", "rmcrt.every=1"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  const Json plans = Json::parse(place.read("r/result.json"))["plans"];
  EXPECT_EQ(plans["step"]["runs"], 7);
  EXPECT_FALSE(plans.contains("step+radiation"));
}

}  // namespace
}  // namespace tessera::test
