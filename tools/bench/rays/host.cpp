// What following rays costs one core of the host: the benchmark of Burns and Christon on a fine level and the
// whole of a coarser one. A cell-step is one ray in one cell. Seconds are those of the processor that this
// program was given, the least of some turns.
#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <limits>

#include "tools/bench/cpu_clock.hpp"
#include "tools/bench/rays/sampled_steps.hpp"

namespace tessera::bench {
namespace {

/// Takes the means of all cells.
struct Keep {
  double* sum;

  bool wants(Index) const { return true; }
  double own(Index) const { return Cube::kIntensity; }
  void finish(Index, double mean) const { *sum += mean; }
};

/// Seconds of the samples, of rays that the host follows together; `sum` gets that of their means.
double secondsOf(const RaysCase& what, const Cube& fine, const Cube& coarse, const CpuClock& clock,
                 double& sum) {
  double seconds = 0.0;
  const auto plain = [](const Field<const Cube::Medium>& field) { return field; };
  sum = 0.0;
  forEachSample(what, fine, coarse, plain, [&](const auto& tracer, const auto& source, const Box& layer) {
    const double begin = clock.seconds();
    followFromBox<Cube::Medium>(tracer, source, Keep{&sum}, layer);
    seconds += clock.seconds() - begin;
  });
  return seconds;
}

void print(const RaysCase& what) {
  constexpr int kTurns = 20;
  const Cube fine(what.fine);
  const Cube coarse(what.fine / what.ratio);
  const SampledRays sampled = sampleSteps(what, fine, coarse);
  const CpuClock clock;
  double seconds = std::numeric_limits<double>::infinity();
  double together = 0.0;
  for (int turn = 0; turn < kTurns; ++turn)
    seconds = std::min(seconds, secondsOf(what, fine, coarse, clock, together));
  std::cout << std::setw(6) << what.fine << std::setw(6) << what.fine / what.ratio << std::setw(7)
            << what.patch << std::setw(7) << what.rays << std::fixed << std::setprecision(1) << std::setw(12)
            << sampled.steps / sampled.rays << std::setprecision(3) << std::setw(10)
            << 1e-6 * sampled.rays / seconds << std::setprecision(1) << std::setw(16)
            << 1e-6 * sampled.steps / seconds
            << (together == sampled.sum ? "" : "   vectors and single rays differ") << std::endl;
}

}  // namespace
}  // namespace tessera::bench

int main() {
  std::cout << "  fine coarse patch   rays  steps/ray   Mrays/s  Mcell-steps/s\n";
  tessera::bench::print({128, 4, 16, 100});
  tessera::bench::print({128, 4, 32, 100});
  tessera::bench::print({128, 4, 16, 10});
  tessera::bench::print({64, 2, 16, 100});
  return 0;
}
