#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string deckOf(const std::string& how, const std::string& rest = "") {
  return "[simulation]\ncomponents = [\"faulty\"]\n[grid]\ncells = [8, 6, 1]\npatches = [2, 2, 1]\n"
         "[time]\ndt = 0.1\nmax_steps = 5\n[checkpoint]\nevery_steps = 1\n[faulty]\nhow = \"" +
         how + "\"\n" + rest;
}

struct Case {
  const char* how;
  int exitCode;
  const char* text;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.how; }

class FaultyComponent : public testing::TestWithParam<Case> {};

TEST_P(FaultyComponent, OnOneRankOfFourEndsTheJobWithOneMessage) {
  const Workplace place;
  place.file("bad.toml", deckOf(GetParam().how, "patch = 2\n"));

  const ProgramResult run = place.faulty({"run", "-n", "4", "--threads", "1", "bad.toml", "-q"});

  EXPECT_EQ(run.exitCode, GetParam().exitCode) << run.err;
  EXPECT_LT(run.seconds, 30.0);
  EXPECT_THAT(run.err, HasSubstr(GetParam().text));
  EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of 4, step 3, t = 0.2"));
  EXPECT_EQ(resultOf(place, "bad", "status"), "failed");
  EXPECT_EQ(resultOf(place, "bad", "exit_code"), std::to_string(GetParam().exitCode));
  EXPECT_THAT(place.tessera({"info", "bad/checkpoints/ckpt-000002"}).out, HasSubstr("checksums are right"));
}

/// The ranks learn it in the next step, whose halos and messages they may have begun.
TEST(FaultyStep, ThatCannotBeTakenEndsAllRanksInOrderWithOneMessageAndTheWholeHistory) {
  for (const char* ranks : {"1", "3"}) {
    const Workplace place;
    std::string deck = deckOf("no_step");
    deck.replace(deck.find("dt = 0.1\n"), 9, "dt_max = 1\nend = 50\n");
    deck.replace(deck.find("every_steps = 1"), 15, "every_steps = 0");
    place.file("bad.toml", deck);

    const ProgramResult run = place.faulty({"run", "-n", ranks, "--threads", "1", "bad.toml", "-q"});

    EXPECT_EQ(run.exitCode, 4) << run.err;
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("the largest stable time step is 0, which is not a valid step\n  step 3"));
    EXPECT_THAT(run.err, Not(HasSubstr("Abort"))) << "nobody had to be ended";
    EXPECT_EQ(countOf(place.read("bad/history.csv"), "\n"), 1 + 4) << place.read("bad/history.csv");
  }
}

TEST(Stall, ATaskThatDoesNotEndIsNamedAndEndsTheJobWithSix) {
  for (const char* ranks : {"1", "3"}) {
    const Workplace place;
    place.file("bad.toml", deckOf("hang", "patch = 2\n"));

    const ProgramResult run =
        place.faulty({"run", "-n", ranks, "--threads", "2", "--watchdog", "1", "bad.toml", "-q"});

    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_LT(run.seconds, 30.0);
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("no task has finished for more than 1 s"));
    EXPECT_THAT(run.err, HasSubstr("is in Faulty::advance on L0/P0002"));
    EXPECT_EQ(resultOf(place, "bad", "exit_code"), "6");
  }
}

TEST_P(FaultyComponent, InOneProcessIsAnErrorWithoutNoiseOfMpi) {
  const Workplace place;
  place.file("bad.toml", deckOf(GetParam().how));

  const ProgramResult run = place.faulty({"run", "bad.toml", "-q"});

  EXPECT_EQ(run.exitCode, GetParam().exitCode) << run.err;
  EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("MPI_Abort")));
}

INSTANTIATE_TEST_SUITE_P(Ways, FaultyComponent,
                         testing::Values(Case{"error", 6, "went wrong on request"},
                                         Case{"standard", 6, "a standard exception"},
                                         Case{"unknown", 6, "unknown type"}, Case{"memory", 6, "memory"}),
                         [](const auto& info) { return std::string(info.param.how); });

/// Row 3 of the table of faults: the other ranks wait in a reduction or in a collective call of the output.
TEST(FaultyRank, ThatFailsWhereTheOthersWaitInACollectiveEndsTheJobWithOneMessage) {
  for (const std::string where : {"stable_dt", "output"}) {
    SCOPED_TRACE(where);
    const Workplace place;
    place.file("bad.toml",
               deckOf("error", "patch = 1\nwhere = \"" + where + "\"\n[output]\nevery_steps = 1\n"));

    const ProgramResult run = place.faulty({"run", "-n", "4", "--threads", "1", "bad.toml", "-q"});

    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_LT(run.seconds, 30.0);
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("went wrong on request"));
    EXPECT_EQ(resultOf(place, "bad", "status"), "failed");
    EXPECT_EQ(resultOf(place, "bad", "exit_code"), "6");
    EXPECT_THAT(place.tessera({"info", "bad/checkpoints/ckpt-000002"}).out, HasSubstr("checksums are right"));
  }
}

TEST(FaultyRank, ThatCrashesOrExitsEndsTheJob) {
  for (const std::string how : {"crash", "exit"}) {
    const Workplace place;
    place.file("bad.toml", deckOf(how, "patch = 1\n"));
    const ProgramResult run = place.faulty({"run", "-n", "4", "--threads", "1", "bad.toml", "-q"});
    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_LT(run.seconds, 30.0);
    const ProgramResult again = place.faulty(
        {"restart", "bad", "-q", "--set", "faulty.how=\"nothing\"", "--set", "time.max_steps=4"});
    EXPECT_EQ(again.exitCode, 2) << "a component's key may not change";
    EXPECT_EQ(place.faulty({"restart", "bad", "-q", "--set", "time.max_steps=2"}).exitCode, 0);
  }
}

TEST(FaultyTask, AnOverReadIsFoundInCheckedModeOnly) {
  const Workplace place;
  place.file("bad.toml", deckOf("over_read"));
  const ProgramResult checked = place.faulty({"run", "bad.toml", "-q", "--checked"});
  EXPECT_EQ(checked.exitCode, 6);
  EXPECT_THAT(checked.err, HasSubstr("Faulty::advance"));
  EXPECT_THAT(checked.err, HasSubstr("halo("));
}

TEST(NodesAndFaces, AreInFieldFilesAndCheckpointsOnAnyNumberOfRanks) {
  const Workplace place;
  place.file("good.toml", deckOf("nothing"));
  ASSERT_EQ(place.faulty({"run", "good.toml", "-q", "--out", "a"}).exitCode, 0);
  ASSERT_EQ(
      place.faulty({"run", "good.toml", "-q", "--out", "b", "-n", "3", "--set", "time.max_steps=3"}).exitCode,
      0);
  ASSERT_EQ(place.faulty({"restart", "b", "-q", "-n", "2", "--set", "time.max_steps=5"}).exitCode, 0);

  const ProgramResult compared = place.tessera({"compare", "--exact", "a", "b"});

  EXPECT_EQ(compared.exitCode, 0) << compared.out;
  const std::string info = place.tessera({"info", "b/out/fields_000005.hdf"}).out;
  EXPECT_THAT(info, HasSubstr("corner, 2 component(s) per node, from 0 to 8"));
  EXPECT_THAT(info, HasSubstr("flux, 1 component(s) per face y, from 0 to 607"));
}

}  // namespace
}  // namespace tessera::test
