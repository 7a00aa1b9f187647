// Compressible flow in 3-D (PLM, HLLC, two stages) on one core through the whole runtime: a cube in one patch
// and in cubes of patches, in turns in one process, so what else the machine does meets both. The smallest
// time of a step of each counts.
//
//   tessera_euler_bench [cells [patch [seconds]]]
//
// Prints million cell updates a second (a cell in a step is one) of both, and the second as percent of the
// first.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "tools/bench/shortest_step.hpp"
#include "tools/bench/step_case.hpp"

namespace tessera::bench {
namespace {

int run(int argc, char** argv) {
  const std::int64_t cells = argc > 1 ? std::atoll(argv[1]) : 64;
  const std::int64_t patch = argc > 2 ? std::atoll(argv[2]) : 32;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 5.0;
  constexpr int kTurns = 4;
  const auto turn = [&](std::int64_t size, double& least) {
    const Deck deck = Deck::fromText(StepCase{"euler", cells, size}.deck(), "euler_bench");
    least = std::min(least, shortestStep(deck, builtInComponents(), seconds / (2 * kTurns)));
  };
  double whole = std::numeric_limits<double>::infinity();
  double parts = whole;
  for (int n = 0; n < kTurns; ++n) {
    turn(cells, whole);
    turn(patch, parts);
  }
  const double million = StepCase{"euler", cells}.million();
  std::printf("euler, %lld^3 cells, one thread\n", static_cast<long long>(cells));
  std::printf("one patch          %8.2f million cell updates a second\n", million / whole);
  std::printf("patches of %3lld^3  %8.2f\n", static_cast<long long>(patch), million / parts);
  std::printf("the second in percent of the first: %.1f\n", 100.0 * whole / parts);
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::run(argc, argv); }
