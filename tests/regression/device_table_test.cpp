#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

TEST(DeviceTableRun, SaysAtTheStartAndInTheResultWhatRunsWhere) {
  const Workplace place;
  place.file(
      "deck.toml",
      smallHeat("max_steps = 3", "[device]\nlimit = \"60 %\"\n[device.tasks]\ncpu = [\"Heat::stableDt\"]\n"));

  const ProgramResult run = place.tessera(
      {"run", "deck.toml", "--out", "r", "-n", "2", "--threads", "1", "--device", "emulated:2"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("rank  device  name"));
  EXPECT_THAT(run.out, HasSubstr("placement auto; on devices: Heat::advance"));
  EXPECT_THAT(run.out, HasSubstr("Heat::stableDt (named)"));
  EXPECT_THAT(run.out, HasSubstr("Heat::initial (no body for devices)"));
  for (const char* file : {"r/result.json", "r/provenance.json"}) {
    const Json all = Json::parse(place.read(file));
    const Json& used = all.contains("devices") ? all["devices"]["used"] : all["start"]["devices"];
    ASSERT_EQ(used.size(), 4U) << file << ": two ranks with two devices each";
    EXPECT_EQ(used[2]["rank"], 1) << file;
    EXPECT_EQ(used[3]["number"], 1) << file;
    EXPECT_EQ(used[0]["name"], "emulated device") << file;
  }
}

TEST(DeviceTableRun, WithoutDevicesTheTableHasNoEffectAndSaysSo) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1", "[device]\nplacement = \"gpu\"\n"));

  const ProgramResult run = place.tessera({"run", "deck.toml", "--out", "r"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("[device] of the deck has no effect without --device"));
  EXPECT_FALSE(Json::parse(place.read("r/result.json")).contains("devices"));
}

TEST(DeviceTableRun, PlacementByCostTellsWhatItTriedAndTheCommandLineGoesBeforeTheDeck) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1000", "[device]\nplacement = \"cpu\"\n"));

  const ProgramResult run = place.tessera(
      {"run", "deck.toml", "--out", "r", "--device", "emulated", "--set", "device.placement=\"cost\""});
  ASSERT_EQ(place.tessera({"run", "deck.toml", "--out", "host"}).exitCode, 0);

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("placement by cost: the host has"));
  const Json result = Json::parse(place.read("r/result.json"));
  EXPECT_EQ(result["devices"]["placement"], "cost");
  EXPECT_TRUE(result["devices"]["cost"]["settled"]);
  EXPECT_GE(result["devices"]["cost"]["trials"].size(), 2U);
  const ProgramResult compared = place.tessera({"compare", "--exact", "host", "r"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
}

}  // namespace
}  // namespace tessera::test
