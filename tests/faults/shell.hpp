#pragma once

#include <string>

#include "tests/regression/run_program.hpp"

namespace tessera::test {

/// Runs a line of the shell in the folder, with limits or redirections; `$T` is the program.
inline ProgramResult shell(const Workplace& place, const std::string& line, double timeoutSeconds = 60.0) {
  RunningProgram program({"bash", "-c", "T=$0; " + line, programPath()}, place.path());
  return program.wait(timeoutSeconds);
}

/// The deck of most reproductions; tables are added at the end, keys of [time] replace those here.
inline std::string smallDeck(const std::string& time = "max_steps = 20", const std::string& rest = "",
                             const std::string& grid = "cells = [16, 16, 1]\npatch_size = [8, 8, 1]") {
  return "[simulation]\ncomponents = [\"heat\"]\n[grid]\n" + grid + "\n[time]\n" + time +
         "\n[heat]\nconductivity = 1\ninitial = \"x*y\"\n" + rest + "\n";
}

}  // namespace tessera::test
