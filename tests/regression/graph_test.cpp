#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

TEST(GraphCommand, PrintsOneRankOfAnyNumberWithoutMpi) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1"));

  const ProgramResult text = place.tessera({"graph", "deck.toml", "--ranks", "1000", "--rank", "3"});
  const ProgramResult json = place.tessera({"graph", "deck.toml", "--ranks", "4", "--rank", "1", "--plan",
                                            "diagnostics", "--format", "json", "--unfolded"});

  EXPECT_EQ(text.exitCode, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("plan step on rank 3 of 1000"));
  EXPECT_THAT(text.out, HasSubstr("all plans compiled in"));
  EXPECT_EQ(json.exitCode, 0) << json.err;
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["plan"], "diagnostics");
  EXPECT_GT(parsed["compile_seconds"], 0.0);
}

TEST(GraphCommand, SaysWhatItCannotDo) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1"));
  const auto complaint = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"graph", "deck.toml"});
    const ProgramResult result = place.tessera(options);
    EXPECT_EQ(result.exitCode, 2);
    return result.err;
  };

  EXPECT_THAT(complaint({"--ranks", "4", "--rank", "4"}), HasSubstr("give --rank 3 or less"));
  EXPECT_THAT(complaint({"--plan", "stop"}), HasSubstr("one of: initial, step, diagnostics"));
  EXPECT_THAT(complaint({"--unfolded"}), HasSubstr("add --format json"));
}

TEST(GraphCommand, TakesTheMeshOfACheckpoint) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1"));
  ASSERT_EQ(
      place.tessera({"run", "deck.toml", "-q", "--out", "run", "--set", "grid.patches=[1, 1, 1]"}).exitCode,
      0);
  const auto patchesOf = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"graph", "deck.toml", "--format", "json"});
    const ProgramResult result = place.tessera(options);
    EXPECT_EQ(result.exitCode, 0) << result.err;
    return nlohmann::json::parse(result.out)["patches"].get<int>();
  };
  const ProgramResult other = place.tessera(
      {"graph", "deck.toml", "--mesh", "run/checkpoints/ckpt-000001", "--set", "grid.cells=[4, 4, 1]"});
  const ProgramResult none = place.tessera({"graph", "deck.toml", "--mesh", "run/out"});

  EXPECT_EQ(patchesOf({"--mesh", "run/checkpoints/ckpt-000001"}),
            patchesOf({"--set", "grid.patches=[1, 1, 1]"}));
  EXPECT_NE(patchesOf({"--mesh", "run/checkpoints/ckpt-000001"}), patchesOf({}));
  EXPECT_EQ(other.exitCode, 3);
  EXPECT_THAT(other.err, HasSubstr("this run has     cells (4, 4, 1)"));
  EXPECT_EQ(none.exitCode, 3);
}

TEST(GraphCommand, ShowsWhereNodesWouldRunWithoutHavingADevice) {
  const Workplace place;
  place.file("deck.toml", smallHeat("max_steps = 1", "[device.tasks]\ncpu = [\"Heat::stableDt\"]\n"));

  const ProgramResult text = place.tessera({"graph", "deck.toml", "--device", "cuda:0"});
  const ProgramResult json = place.tessera({"graph", "deck.toml", "--device", "cuda", "--format", "json"});

  EXPECT_EQ(text.exitCode, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("New heat.source from the host to device 0"));
  EXPECT_THAT(text.out, HasSubstr("heat.conductivity on level 0  on the host")) << "Heat::stableDt reads it";
  EXPECT_THAT(text.out, HasSubstr("from a device to it"));
  EXPECT_EQ(json.exitCode, 0) << json.err;
  const nlohmann::json places = nlohmann::json::parse(json.out)["places"];
  EXPECT_EQ(places["devices"], 1);
  std::int64_t toDevice = 0;
  for (const auto& copy : places["copies"]) toDevice += copy["variable"] == "heat.source" && !copy["to_host"];
  EXPECT_GE(toDevice, 1);
  const ProgramResult drawn = place.tessera({"graph", "deck.toml", "--device", "cuda", "--format", "dot"});
  EXPECT_EQ(drawn.exitCode, 2);
  EXPECT_THAT(drawn.err, HasSubstr("leave --format or --device out"));
}

}  // namespace
}  // namespace tessera::test
