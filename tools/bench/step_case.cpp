#include "tools/bench/step_case.hpp"

namespace tessera::bench {

std::string StepCase::deck() const {
  const auto cube = [](std::int64_t n) {
    const std::string text = std::to_string(n);
    return "[" + text + ", " + text + ", " + text + "]";
  };
  const std::string of = physics == "heat" ? "conductivity = 1\ninitial = \"1 + x*y*z\"\n"
                                           : "velocity = { x = 1, y = 1, z = 1 }\n"
                                             "limiter = \"mc\"\ninitial = \"1 + x*y*z\"\n";
  return "[simulation]\ncomponents = [\"" + physics +
         "\"]\n[grid]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\ncells = " + cube(cells) +
         "\npatch_size = " + cube(patch == 0 ? cells : patch) +
         "\nperiodic = [true, true, true]\n[time]\nend = 1e9\n[" + physics + "]\n" + of;
}

}  // namespace tessera::bench
