#pragma once

#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// Rounds of Philox that item `n` takes: `mean` of them on average; most take few, a few take many.
TESSERA_KERNEL inline std::int64_t roundsOf(std::int64_t n, std::int64_t mean) {
  const double u = unitReal(philox({static_cast<std::uint32_t>(n), 0, 0, 0}, {9, 0}).x);
  return 1 + static_cast<std::int64_t>(static_cast<double>(mean) * 4.0 * u * u * u);
}

/// Some rounds of work, which cannot be left out.
TESSERA_KERNEL inline std::uint32_t spin(std::uint32_t seed, std::int64_t rounds) {
  for (std::int64_t n = 0; n < rounds; ++n) seed = philox({seed, 0, 0, 0}, {1, 2}).x;
  return seed;
}

/// A unit with work as `roundsOf` says, some rounds a call.
struct SpinBody {
  static constexpr int kPushes = 0;
  static constexpr std::int64_t kRoundsOfCall = 64;
  struct Unit {
    std::int64_t at = 0;
    std::int64_t left = 0;
    std::uint32_t seed = 1;
  };
  Array<std::uint32_t> results;
  std::int64_t mean = 0;  ///< 0: no work at all

  TESSERA_KERNEL Unit first(Index at) const {
    return {at.i, mean > 0 ? roundsOf(at.i, mean) : 0, static_cast<std::uint32_t>(at.i)};
  }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const std::int64_t rounds = unit.left < kRoundsOfCall ? unit.left : kRoundsOfCall;
    unit.seed = spin(unit.seed, rounds);
    unit.left -= rounds;
    if (unit.left > 0) return UnitEnd::GoOn;
    results(unit.at) = unit.seed;
    return UnitEnd::Done;
  }
};

const JobKernels& spinKernels();

}  // namespace tessera::jobs
