#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "tools/bench/rays/sampled_steps.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {

/// A run of the benchmark of Burns and Christon on devices or on the host.
struct CardCase {
  RaysCase rays;
  std::string settings{};  ///< further lines of [rmcrt]
  int streams = 1;         ///< that the launches of rays are split over
  bool flow = false;       ///< beside a flow on the same levels, with radiation in every fourth step

  std::string deck() const;
};

/// What a run came to.
struct CardRun {
  std::vector<double> seconds;  ///< of each step after the first one, until the devices were at rest
  std::uint64_t bits = 0;       ///< a hash of all variables at the end
  double kernelPart = 0.0;      ///< of the time of the device: at least one launch of tasks was at work
  double rayPart = 0.0;         ///< of the time of the device: rays were followed
  std::int64_t launches = 0;    ///< of kernels a step

  double least() const;
};

/// Takes the first step, and then so many or until so much time is over. `isTraced`: also the parts of time.
CardRun runCard(const CardCase& what, Transport& transport, SimulationOptions options, std::int64_t steps,
                double mostSeconds, bool isTraced);

}  // namespace tessera::bench
