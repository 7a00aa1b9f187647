#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

TEST(Compare, LayoutsRanksAndThreadsGiveTheSameBits) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 5"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", "a"}).exitCode, 0);
  int n = 0;
  for (const std::string patches : {"[1, 1, 1]", "[16, 12, 1]", "[5, 3, 1]"}) {
    for (const std::string ranks : {"1", "2", "4"}) {
      const std::string run = "b" + std::to_string(n++);
      ASSERT_EQ(place
                    .tessera({"run", "small.toml", "-q", "-n", ranks, "--out", run, "--set",
                              "grid.patches=" + patches})
                    .exitCode,
                0);
      const ProgramResult compared =
          place.tessera({"compare", "--exact", "a/out/fields_000005.hdf", run + "/out/fields_000005.hdf"});
      EXPECT_EQ(compared.exitCode, 0)
          << patches << " on " << ranks << " ranks: " << compared.out << compared.err;
      EXPECT_EQ(place.read(run + "/history.csv"), place.read("a/history.csv"));
    }
  }
}

TEST(Compare, RunsThatDifferSayWhereAndByHowMuch) {
  const Workplace place;
  place.file("small.toml", smallHeat("dt = 0.0001\nmax_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", "a"}).exitCode, 0);
  ASSERT_EQ(place
                .tessera({"run", "small.toml", "-q", "--out", "b", "--set",
                          "heat.source=\"if(x < 0.05, 1e-6, 0)\""})
                .exitCode,
            0);

  const ProgramResult exact = place.tessera({"compare", "--exact", "a", "b", "--field", "temperature"});
  EXPECT_EQ(exact.exitCode, 1);
  EXPECT_THAT(exact.out, HasSubstr("temperature"));
  EXPECT_THAT(exact.out, HasSubstr("different"));

  const ProgramResult tolerant = place.tessera({"compare", "--abs", "1", "a", "b", "--field", "temperature"});
  EXPECT_EQ(tolerant.exitCode, 0) << tolerant.out;
}

TEST(Compare, ARunWithACheckpointIsAUsageError) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", "a"}).exitCode, 0);
  const ProgramResult run = place.tessera({"compare", "a", "a/checkpoints/ckpt-000002"});
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("same kind"));
}

TEST(Compare, AFieldThatIsNowhereIsAUsageErrorThatListsTheFields) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 1"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", "a"}).exitCode, 0);
  const ProgramResult run = place.tessera({"compare", "a", "a", "--field", "temprature"});
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(
      run.err,
      "tessera: error: there is no field \"temprature\" in what is compared; did you mean 'temperature'? "
      "Known names: heat.conductivity, temperature\n"
      "  fix  give --field one of the known names, or leave it out for all\n");
}

TEST(Compare, AMissingFileIsThree) { EXPECT_EQ(Workplace().tessera({"compare", "a", "b"}).exitCode, 3); }

TEST(Info, TellsWhatIsInARunAFieldFileAndACheckpoint) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  EXPECT_THAT(place.tessera({"info", "small"}).out, HasSubstr("step 2"));
  EXPECT_THAT(place.tessera({"info", "small/out/fields_000002.hdf"}).out, HasSubstr("temperature"));
  EXPECT_THAT(place.tessera({"info", "small/checkpoints/ckpt-000002"}).out, HasSubstr("checksums are right"));
  EXPECT_EQ(place.tessera({"info", "missing"}).exitCode, 3);
  place.file("garbage.hdf", "this is no HDF5");
  EXPECT_EQ(place.tessera({"info", "garbage.hdf"}).exitCode, 3);
}

TEST(Check, SaysOkAndDeepPrintsMeshTasksAndMemoryWithoutStepping) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  EXPECT_THAT(place.tessera({"check", "small.toml"}).out, HasSubstr("small.toml: ok"));

  const ProgramResult deep = place.tessera({"check", "small.toml", "--deep", "--ranks", "4"});
  EXPECT_EQ(deep.exitCode, 0) << deep.err;
  EXPECT_THAT(deep.out, HasSubstr("192 cells in 6 patches"));
  EXPECT_THAT(deep.out, HasSubstr("races in plan step: none found in "));
  EXPECT_THAT(deep.out, HasSubstr("Heat::advance"));
  EXPECT_THAT(deep.out, HasSubstr("memory for fields"));
  EXPECT_FALSE(place.has("small"));
}

TEST(Check, ReportsAllFaultsAtOnce) {
  const Workplace place;
  place.file("bad.toml",
             "[simulation]\ncomponents = [\"haet\"]\n[grid]\ncells = [0, 4, 4]\n[time]\nende = 1\n");
  const ProgramResult run = place.tessera({"check", "bad.toml"});
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("haet"));
  EXPECT_THAT(run.err, HasSubstr("bad.toml:4:"));
  EXPECT_THAT(run.err, HasSubstr("ende"));
}

TEST(Check, ReportsWhatOnlyTheComponentsKnow) {
  const Workplace place;
  place.file("bad.toml", smallHeat("max_steps = 2",
                                   "[heat.boundary]\nx_low.type = \"dirichlet\"\n"
                                   "y_low.type = \"dirichlet\"\nz_high.value = 2\n"));
  const ProgramResult sides = place.tessera({"check", "bad.toml"});
  EXPECT_EQ(sides.exitCode, 2);
  EXPECT_EQ(sides.err,
            "bad.toml:14:14: error: axis x is periodic, so x_low has no boundary; remove this key or set "
            "grid.periodic to false there\n"
            "bad.toml:16:16: error: axis z has one cell and is not resolved, so z_high has no boundary; "
            "remove this "
            "key or give the axis more grid.cells\n");

  place.file("fields.toml",
             smallHeat("max_steps = 2", "[output]\nfields = [\"temprature\", \"temperature\"]"));
  const ProgramResult fields = place.tessera({"check", "fields.toml"});
  EXPECT_EQ(fields.exitCode, 2);
  EXPECT_EQ(
      fields.err,
      "fields.toml:14:10: error: output.fields names \"temprature\", which is not a variable of this run; "
      "did you mean 'temperature'? Known names: temperature, heat.conductivity\n");
}

TEST(Describe, ShowsComponentsInThreeFormats) {
  const Workplace place;
  EXPECT_THAT(place.tessera({"describe", "heat"}).out, HasSubstr("conductivity"));
  EXPECT_THAT(place.tessera({"describe", "--format", "md"}).out, HasSubstr("patch_size"));
  EXPECT_THAT(place.tessera({"describe", "--format", "json-schema"}).out, HasSubstr("2020-12"));
  // A deck has the tables of its own components only, so none of them is required of every deck.
  EXPECT_THAT(place.tessera({"describe", "--format", "json-schema"}).out,
              HasSubstr("  \"required\": [\n    \"simulation\",\n    \"grid\"\n  ]\n}"));
  EXPECT_EQ(place.tessera({"describe", "nothing"}).exitCode, 2);
  EXPECT_THAT(place.tessera({"describe", "haet"}).err, HasSubstr("did you mean 'heat'?"));
  EXPECT_THAT(place.tessera({"describe", "grid.cells"}).err, HasSubstr("tessera describe grid"));
  EXPECT_THAT(place.tessera({"describe", "constants"}).out, HasSubstr("width = 0.1"));
  EXPECT_THAT(place.tessera({"list"}).out, HasSubstr("advection"));
}

}  // namespace
}  // namespace tessera::test
