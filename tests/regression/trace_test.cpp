#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TraceOfARun, IsOneFileThatTheSummaryReads) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4"));

  const ProgramResult run = place.tessera({"run", "-n", "2", "small.toml", "--trace", "--threads", "2"});

  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_TRUE(place.has("small/trace.json.gz"));
  EXPECT_FALSE(place.has("small/trace.json.gz.part-0"));
  EXPECT_FALSE(place.has("small/trace.json.gz.part-1"));
  const ProgramResult summary = place.tessera({"trace", "summary", "small"});
  ASSERT_EQ(summary.exitCode, 0) << summary.err;
  // The initial state, four steps, and the diagnostics of five states and of the result.
  EXPECT_THAT(summary.out, HasSubstr("2 rank(s) with 4 worker(s)"));
  for (const char* part :
       {"Critical path", "Heat::advance", "halo of Old temperature", "waits: output", "start delay"}) {
    EXPECT_THAT(summary.out, HasSubstr(part));
  }
  const ProgramResult step = place.tessera({"trace", "summary", "small/trace.json.gz", "--step", "3"});
  ASSERT_EQ(step.exitCode, 0) << step.err;
  EXPECT_THAT(step.out, Not(HasSubstr("Heat::initial")));
  EXPECT_EQ(place.tessera({"trace", "summary", "small", "--step", "99"}).exitCode, 2);
}

TEST(TraceOfARun, ChangesNoByteOfTheResultAndIsThereOnRequestOnly) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "--out", "plain"}).exitCode, 0);
  ASSERT_EQ(
      place.tessera({"run", "small.toml", "--out", "traced", "--trace=mine.gz", "--trace-edges"}).exitCode,
      0);

  EXPECT_EQ(place.read("traced/history.csv"), place.read("plain/history.csv"));
  EXPECT_TRUE(place.has("mine.gz"));
  EXPECT_FALSE(place.has("plain/trace.json.gz"));
  EXPECT_FALSE(place.has("traced/trace.json.gz"));
  EXPECT_EQ(place.tessera({"trace", "summary", "mine.gz"}).exitCode, 0);
  EXPECT_EQ(place.tessera({"trace", "summary", "plain"}).exitCode, 3);
}

TEST(TraceOfARun, ThatCannotBeWrittenIsSaidBeforeTheFirstStep) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4"));

  const ProgramResult run = place.tessera({"run", "small.toml", "--trace=nowhere/trace.gz"});

  EXPECT_EQ(run.exitCode, 5);
  EXPECT_THAT(run.err, HasSubstr("nowhere/trace.gz"));
  EXPECT_FALSE(place.has("small/out/fields_000000.hdf"));
}

}  // namespace
}  // namespace tessera::test
