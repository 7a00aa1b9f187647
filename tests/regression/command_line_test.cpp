#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

struct Slip {
  std::vector<std::string> arguments;
  std::string text;
};

/// Every way to write a command line wrongly: one sentence, what to write instead, and code 2.
TEST(CommandLine, SlipsAreSentencesWithAFix) {
  const std::string commands =
      "run, restart, check, describe, graph, compare, trace, ensemble, job, info, list, plot, report, "
      "extract, "
      "export, convergence, new, doctor, top, gallery, completion, man";
  const std::vector<Slip> slips{
      {{},
       "no command was given\n  fix  write one of: " + commands +
           "; for example tessera run DECK, or tessera --help"},
      {{"rnu", "a.toml"},
       "unknown command \"rnu\"; did you mean `tessera run`?\n  fix  write one of: " + commands},
      {{"reprot", "a"},
       "unknown command \"reprot\"; did you mean `tessera report`?\n  fix  write one of: " + commands},
      {{"help"},
       "unknown command \"help\"; did you mean `tessera --help`?\n  fix  write one of: " + commands},
      {{"a.toml"}, "unknown command \"a.toml\"\n  fix  to run this deck: tessera run a.toml"},
      {{"--verison"},
       "unknown option --verison; did you mean --version?\n  fix  `tessera --help` lists the commands; "
       "options follow a command"},
      {{"-n", "4", "run", "a.toml"},
       "the option -n stands before the command\n  fix  options follow their command: tessera run -n ..."},
      {{"run"},
       "`tessera run` needs DECK\n  which is  The deck, a TOML file; `tessera describe` shows all keys\n"
       "  fix       write tessera run DECK"},
      {{"compare", "a"},
       "`tessera compare` needs B\n  which is  Another one of the same kind; patches and ranks may differ\n"
       "  fix       write tessera compare A B"},
      {{"run", "a.toml", "b.toml"},
       "`tessera run` does not take the word \"b.toml\" here\n  fix  write tessera run DECK; `tessera run "
       "--help` lists what "
       "it takes"},
      {{"run", "a.toml", "--thread", "2"},
       "`tessera run` has no option --thread; did you mean --threads?\n  fix  `tessera run --help` lists "
       "what it takes"},
      {{"run", "a.toml", "--wall"},
       "the option --wall needs a value\n  fix  write --wall TIME: Stop with a checkpoint before this much "
       "wall time is "
       "over: 3600, 1h30m, 01:30:00 [default: no limit]"},
      {{"run", "a.toml", "-n", "0"},
       "the option --ranks does not take \"0\"\n  fix  write --ranks with a whole number from 1 to 1000000"},
      {{"run", "a.toml", "--threads", "two"},
       "the option --threads does not take \"two\"\n  fix  write --threads with a whole number from 0 to "
       "4096"},
      {{"run", "a.toml", "--sends", "0"},
       "the option --sends does not take \"0\"\n  fix  write --sends with a whole number from 1 to 1000000"},
      {{"run", "a.toml", "--send-mib", "much"},
       "the option --send-mib does not take \"much\"\n  fix  write --send-mib with a whole number from 1 to "
       "1000000"},
      {{"run", "a.toml", "--log", "xml"},
       "the option --log does not take \"xml\"\n  fix  write --log with one of: text, json"},
      {{"run", "a.toml", "-n", "2", "-n", "3"},
       "the option --ranks is given more than once\n  fix  give it once"},
      {{"restart", "a", "--from", "-1"},
       "the option --from does not take \"-1\"\n  fix  write --from with a whole number from 0 to "
       "1000000000000"},
      {{"compare", "a", "b", "--abs", "-1"},
       "the option --abs does not take \"-1\"\n  fix  write --abs with a number that is not negative, for "
       "example 1e-9"},
      {{"compare", "a", "b", "--abs", "1", "--exact"},
       "the options --abs and --exact exclude each other\n  fix  give one of them"},
  };
  const Workplace place;
  for (const Slip& slip : slips) {
    const ProgramResult run = place.tessera(slip.arguments);
    EXPECT_EQ(run.exitCode, 2);
    EXPECT_EQ(run.err, "tessera: error: " + slip.text + "\n");
    EXPECT_EQ(run.out, "");
  }
}

TEST(CommandLine, ADeckWhereARunIsWantedIsToldWhatToDoWithDecks) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 1"));
  const ProgramResult info = place.tessera({"info", "small.toml"});
  EXPECT_EQ(info.exitCode, 2);
  EXPECT_THAT(info.err, HasSubstr("small.toml is a deck"));
  EXPECT_THAT(info.err, HasSubstr("tessera check small.toml"));
  const ProgramResult compare = place.tessera({"compare", "small.toml", "small.toml"});
  EXPECT_EQ(compare.exitCode, 2);
  EXPECT_THAT(compare.err, HasSubstr("tessera run small.toml"));
  EXPECT_THAT(place.tessera({"restart", "small.toml"}).err,
              HasSubstr("to run a deck: tessera run small.toml"));
}

TEST(CommandLine, AFixedStepAboveTheStableOneIsAWarningWithBothNumbers) {
  const Workplace place;
  place.file("small.toml",
             "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [10, 1, 1]\n[heat]\nconductivity = 1\n"
             "initial = \"sin(pi*x)\"\n[time]\nmax_steps = 3\n");
  // Explicit diffusion on one axis: h^2 / 2k.
  const std::string text = "tessera: warning: time.dt = 0.01 is longer than the largest stable step, 0.005";
  const ProgramResult run = place.tessera({"run", "small.toml", "-q", "--set", "time.dt=0.01"});
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_EQ(run.err.find(text), 0U) << run.err;
  EXPECT_EQ(run.err.find("warning", text.size()), std::string::npos) << "once is enough: " << run.err;
  EXPECT_THAT(place.read("small/result.json"), HasSubstr("time.dt = 0.01 is longer"));
  EXPECT_EQ(place.tessera({"run", "small.toml", "-q", "--set", "time.dt=0.004"}).err, "");
}

TEST(CommandLine, AConductivityThatIsNegativeSomewhereIsRefusedBeforeTheRunFolderIsMade) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 1"));
  for (const std::string value : {"-1", "\"1 - 2\"", "\"x - 0.5\"", "\"0.9 - x*y\""}) {
    const ProgramResult run =
        place.tessera({"run", "small.toml", "-q", "--set", "heat.conductivity=" + value});
    EXPECT_EQ(run.exitCode, 2) << value;
    EXPECT_THAT(run.err, HasSubstr("heat.conductivity")) << value;
    EXPECT_FALSE(place.has("small")) << value;
  }
}

}  // namespace
}  // namespace tessera::test
