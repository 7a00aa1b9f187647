#pragma once

#include <string>

namespace tessera::test {

/// Heat in a box of 16 x 12 cells in six patches, with a step that follows from the conductivity and a source
/// that changes with time: whatever a restart forgets shows in the numbers. The test adds tables at the end.
inline std::string smallHeat(const std::string& time, const std::string& rest = "") {
  return "[simulation]\n"
         "components = [\"heat\"]\n"
         "[grid]\n"
         "cells = [16, 12, 1]\n"
         "patches = [3, 2, 1]\n"
         "periodic = [true, false, false]\n"
         "[heat]\n"
         "conductivity = \"1 + 0.5*x\"\n"
         "initial = \"exp(-20*((x-0.4)^2 + (y-0.5)^2))\"\n"
         "source = \"sin(10*t) * x\"\n"
         "[time]\n" +
         time + "\n" + rest + "\n";
}

/// A run that does not end by itself in the time of a test.
inline std::string endlessHeat(const std::string& rest = "") {
  return smallHeat("max_steps = 1000000000", "[history]\nevery_steps = 1000\n" + rest);
}

}  // namespace tessera::test
