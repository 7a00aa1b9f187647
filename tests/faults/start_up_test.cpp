// What goes wrong before the first step: on one rank alone, for want of memory, room, threads, files or
// stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/faults/shell.hpp"

namespace tessera::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(StartUp, ALevelThatEndsWhereTheOneBelowEndsIsAFaultOfTheDeckAndHangsNobody) {
  const Workplace place;
  place.file("levels.toml",
             "[simulation]\ncomponents = [\"levels\"]\n[grid]\ncells = [16, 16, 1]\npatch_size = [4, 4, 1]\n"
             "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\npatch_size = [4, 4, 1]\n"
             "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.5, 0.5, 1]\npatch_size = [4, 4, 1]\n"
             "[time]\nmax_steps = 1\ndt = 0.001\n");
  const ProgramResult check = place.tessera({"check", "levels.toml"});
  EXPECT_EQ(check.exitCode, 2);
  EXPECT_THAT(check.err, AllOf(HasSubstr("levels.toml:11:"), HasSubstr("ends where level 1 ends")));
  const ProgramResult run = place.tessera({"run", "levels.toml", "-n", "3", "--threads", "1"}, 30.0);
  EXPECT_EQ(run.exitCode, 2) << run.err;
  EXPECT_FALSE(place.has("levels"));
}

TEST(StartUp, ARankWithoutMemoryEndsTheJobWithSixAndOneMessage) {
  const Workplace place;
  place.file("big.toml",
             smallDeck("max_steps = 1", "", "cells = [256, 256, 128]\npatch_size = [64, 64, 64]"));
  for (const char* ranks : {"2", "3"}) {
    // Each rank has a limit of its own, as batch systems set it.
    const ProgramResult run =
        shell(place, "ulimit -v 240000; $T run big.toml --threads 1 -q -n " + std::string(ranks), 60.0);
    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_THAT(run.err, HasSubstr("tessera: error: "));
    EXPECT_LT(run.seconds, 30.0);
  }
}

TEST(StartUp, ADeckThatNeedsMoreMemoryThanThereIsIsRefusedAtOnceWithBothFigures) {
  const Workplace place;
  for (const char* grid :
       {"cells = [2048, 2048, 2048]", "cells = [4096, 4096, 4096]\npatch_size = [256, 256, 256]",
        "cells = [8192, 8192, 1]\npatch_size = [1, 1, 1]"}) {
    place.file("big.toml", smallDeck("max_steps = 1", "", grid));
    const ProgramResult run = shell(place, "ulimit -v 20000000; $T run big.toml");
    EXPECT_EQ(run.exitCode, 6) << grid;
    EXPECT_THAT(run.err, AllOf(HasSubstr("needs more memory than there is"), HasSubstr("needs  "),
                               HasSubstr("there  ")))
        << grid;
    EXPECT_LT(run.seconds, 10.0) << grid;
    EXPECT_FALSE(place.has("big"));
  }
}

TEST(StartUp, CountsBeyondWhatAnyMachineHoldsAreFaultsOfTheDeck) {
  const Workplace place;
  for (const char* grid :
       {"cells = [1099511627776, 1048576, 1]\npatches = [1, 1, 1]", "cells = [1099511627776, 1, 1]"}) {
    place.file("huge.toml", smallDeck("max_steps = 1\ndt = 1e-30", "", grid));
    for (const char* command : {"check", "run"}) {
      const ProgramResult result = place.tessera({command, "huge.toml"});
      EXPECT_EQ(result.exitCode, 2) << grid;
      EXPECT_THAT(result.err, HasSubstr("huge.toml:4:")) << grid;
    }
  }
}

TEST(StartUp, ThreadsThatCannotBeStartedAreSix) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  const ProgramResult memory = shell(place, "ulimit -v 500000; $T run small.toml --threads 64 -q --out a");
  EXPECT_EQ(memory.exitCode, 6);
  EXPECT_THAT(memory.err, HasSubstr("a thread cannot be started"));
  const ProgramResult many = place.tessera({"run", "small.toml", "--threads", "4096"});
  EXPECT_EQ(many.exitCode, 2);
  EXPECT_THAT(many.err, HasSubstr("--threads 4096"));
}

TEST(StartUp, LimitsThatAreTooLowForAnyRunAreSixAndNameTheLimit) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  const std::pair<const char*, const char*> limits[] = {
      {"ulimit -s 64", "the stack"}, {"ulimit -d 20000", "data"}, {"ulimit -n 16", "open files"}};
  for (const auto& [limit, name] : limits) {
    const ProgramResult run = shell(place, std::string(limit) + "; $T run small.toml -q --out a");
    EXPECT_EQ(run.exitCode, 6) << limit;
    EXPECT_THAT(run.err, HasSubstr(name)) << limit;
  }
  const ProgramResult ranks = shell(place, "ulimit -n 32; $T run small.toml -q --out b -n 2");
  EXPECT_EQ(ranks.exitCode, 6);
  EXPECT_THAT(ranks.err, HasSubstr("open files"));
}

TEST(StartUp, ASmallSharedMemoryIsSixAndNamesItAndOneRankNeedsNone) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  const std::string mount =
      std::string("unshare ") + (geteuid() == 0 ? "-m" : "-Urm") +
      " sh -c 'mount -t tmpfs -o size=4m tmpfs /dev/shm || exit 99; \"$0\" run small.toml -q ";
  const ProgramResult two = shell(place, mount + "-n 2 --out a' $T");
  if (two.exitCode == 99 || two.exitCode == 1)
    GTEST_SKIP() << "a mount needs root or user namespaces: " << two.err;
  EXPECT_EQ(two.exitCode, 6) << two.err;
  EXPECT_THAT(two.err, AllOf(HasSubstr("/dev/shm"), HasSubstr("needs"), HasSubstr("fix")));
  EXPECT_EQ(shell(place, mount + "--out b' $T").exitCode, 0);
}

TEST(StartUp, APathThatIsTooLongIsSaidBeforeTheFirstStep) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  const ProgramResult run = shell(
      place,
      "d=$PWD; for n in $(seq 20); do d=$d/$(printf 'x%.0s' $(seq 200)); done; mkdir -p $d 2>/dev/null; "
      "$T run small.toml --out ${d:0:4030}/run");
  EXPECT_EQ(run.exitCode, 5) << run.err;
  EXPECT_THAT(run.err, HasSubstr("too long"));
}

TEST(StartUp, NothingIsSaidToBeFineThatTheRunRefuses) {
  const Workplace place;
  const std::pair<std::string, const char*> decks[] = {
      {smallDeck("max_steps = 1", "[output]\nfields = [\"temperature\", \"temperature\"]"), "twice"},
      {smallDeck("max_steps = 1", "",
                 "cells = [16, 1, 1]\nlower = [-1.7e308, 0, 0]\nupper = [1.7e308, 1, 1]"),
       "infinite"},
      {smallDeck("max_steps = 1", "",
                 "cells = [16, 1, 1]\nlower = [1, 0, 0]\nupper = [1.000000000000001, 1, 1]"),
       "the same number"},
  };
  for (const auto& [deck, said] : decks) {
    place.file("bad.toml", deck);
    const ProgramResult check = place.tessera({"check", "bad.toml"});
    EXPECT_EQ(check.exitCode, 2) << deck;
    EXPECT_THAT(check.err, AllOf(HasSubstr("bad.toml:"), HasSubstr(said)));
  }
  for (const int levels : {25, 35}) {
    std::string boxes;
    for (int n = 0; n < levels; ++n) boxes += "[[grid.level]]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\n";
    place.file("levels.toml", "[simulation]\ncomponents = [\"levels\"]\n[grid]\ncells = [128, 1, 1]\n" +
                                  boxes + "[time]\nmax_steps = 1\ndt = 1\n");
    EXPECT_EQ(place.tessera({"check", "levels.toml"}).exitCode, 2) << levels;
  }
  place.file("small.toml", smallDeck());
  EXPECT_EQ(place.tessera({"run", "small.toml", "--watchdog", "nan"}).exitCode, 2);
}

TEST(StartUp, CheckSaysThatNoStepLengthIsKnown) {
  const Workplace place;
  place.file("levels.toml",
             "[simulation]\ncomponents = [\"levels\"]\n[grid]\ncells = [16, 16, 1]\n[time]\nmax_steps = 1\n");
  const ProgramResult check = place.tessera({"check", "levels.toml"});
  EXPECT_EQ(check.exitCode, 2);
  EXPECT_THAT(check.err, HasSubstr("time.dt"));
  EXPECT_EQ(place.tessera({"run", "levels.toml"}).exitCode, 2);
  EXPECT_FALSE(place.has("levels"));
}

TEST(StartUp, ACflNumberAboveOneIsAWarning) {
  const Workplace place;
  place.file("fast.toml", smallDeck("max_steps = 1\ncfl = 5"));
  const ProgramResult check = place.tessera({"check", "fast.toml"});
  EXPECT_EQ(check.exitCode, 0);
  EXPECT_THAT(check.err, AllOf(HasSubstr("fast.toml:"), HasSubstr("warning"), HasSubstr("time.cfl")));
}

}  // namespace
}  // namespace tessera::test
