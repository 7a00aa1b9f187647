// Conditions on parts of sides: where they hold is an expression, which need not give a number.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/faults/shell.hpp"

namespace tessera::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string deckWithPart(const std::string& within, const std::string& type = "outflow",
                         const std::string& grid = "cells = [16, 16, 1]\npatch_size = [8, 8, 1]") {
  return "[simulation]\ncomponents = [\"diffusion\"]\n[grid]\n" + grid +
         "\n[time]\nmax_steps = 20\ndt = 2e-4\n[[diffusion.quantity]]\nname = \"a\"\ndiffusivity = "
         "1\ninitial = \"x\"\n"
         "[[diffusion.boundary_part]]\nside = \"x_low\"\ntype = \"" +
         type + "\"\nwithin = \"" + within + "\"\n";
}

TEST(PartOfASide, ThatIsNoNumberSomewhereIsAFaultOfTheDeck) {
  const Workplace place;
  place.file("part.toml", deckWithPart("sqrt(y - 0.5)"));
  for (const char* command : {"check", "run"}) {
    const ProgramResult result = place.tessera({command, "part.toml"});
    EXPECT_EQ(result.exitCode, 2) << result.err;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("part.toml:16:10:"), HasSubstr("gives no number at (0, 0.03125, 0.5)")));
  }
}

TEST(PartOfASide, ThatIsNoNumberLaterEndsTheRunWithFourAndItsPlace) {
  const std::vector<std::vector<std::string>> ways{{"--threads", "2"},
                                                   {"--threads", "1", "-n", "2"},
                                                   {"--executor", "virtual", "--ranks", "2"},
                                                   {"--threads", "1", "--device", "emulated"}};
  for (const char* type : {"outflow", "reflect"}) {
    for (const std::vector<std::string>& way : ways) {
      const Workplace place;
      place.file("part.toml", deckWithPart("sqrt(0.001 - t) >= 0 ? sqrt(0.001 - t) : 0/0", type));
      std::vector<std::string> command{"run", "part.toml", "-q"};
      command.insert(command.end(), way.begin(), way.end());
      const ProgramResult result = place.tessera(command);
      EXPECT_EQ(result.exitCode, 4) << type << " " << way.back() << ": " << result.err;
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("is not a number"), HasSubstr("side x_low"), HasSubstr("t = 0.001")));
    }
  }
}

TEST(PartOfASide, OfManyCellsIsLookedAtInAMoment) {
  const Workplace place;
  place.file("part.toml", deckWithPart("y > 5", "outflow",
                                       "cells = [8, 1048576, 1048576]\npatch_size = [8, 65536, 65536]"));
  const ProgramResult check = place.tessera({"check", "part.toml"}, 20.0);
  EXPECT_EQ(check.exitCode, 0) << check.err;
  EXPECT_LT(check.seconds, 10.0);
}

}  // namespace
}  // namespace tessera::test
