#include "tools/bench/step_case.hpp"

namespace tessera::bench {

std::string StepCase::deck() const {
  const auto cube = [](std::int64_t n) {
    const std::string text = std::to_string(n);
    return "[" + text + ", " + text + ", " + text + "]";
  };
  std::string of = "velocity = { x = 1, y = 1, z = 1 }\nlimiter = \"mc\"\ninitial = \"1 + x*y*z\"\n";
  if (physics == "heat") of = "conductivity = 1\ninitial = \"1 + x*y*z\"\n";
  if (physics == "euler")
    of = "initial.density = \"1 + 0.2*sin(2*pi*(x + y + z))\"\ninitial.velocity = { x = 1, y = 0.5, z = 0.25 "
         "}\n"
         "initial.pressure = \"1 + 0.1*cos(2*pi*x)\"\n";
  return "[simulation]\ncomponents = [\"" + physics +
         "\"]\n[grid]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\ncells = " + cube(cells) +
         "\npatch_size = " + cube(patch == 0 ? cells : patch) +
         "\nperiodic = [true, true, true]\n[time]\nend = 1e9\n[" + physics + "]\n" + of;
}

}  // namespace tessera::bench
