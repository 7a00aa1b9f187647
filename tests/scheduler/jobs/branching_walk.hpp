#pragma once

#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs::testing {

/// A unit walks a random number of steps; now and then it pushes a walk of its own. What it has seen goes to
/// an element of its own (first units) and to sums.
struct BranchingWalk {
  static constexpr int kPushes = 1;
  struct Unit {
    std::int64_t home = 0;
    std::uint32_t path = 0;  ///< 1 for a first unit; a pushed one has its parent's and one bit more
    std::uint32_t step = 0;
    double seen = 0.0;
  };
  Array<const double> weights;
  Array<double> ends;
  SumArray sums;
  std::uint32_t pushUntil = 1U << 6;  ///< paths that push

  TESSERA_KERNEL Unit first(Index at) const { return {at.i, 1, 0, 0.0}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units& units) const {
    const PhiloxWords words =
        philox({static_cast<std::uint32_t>(unit.home), unit.path, unit.step++, 0}, {7, 0});
    unit.seen += unitReal(words.x) * weights(unit.home);
    sums.add({unit.home % 3, 0, 0}, unitReal(words.y));
    if (words.w % 8 == 0 && unit.path < pushUntil) {
      units.push({unit.home, 2 * unit.path, 0, 0.0});
      unit.path = 2 * unit.path + 1;
      unit.step = 0;
    }
    if (words.z % 16 != 0) return UnitEnd::GoOn;
    if ((unit.path & (unit.path + 1)) == 0) ends(unit.home) = unit.seen;  // the first unit of its home
    return UnitEnd::Done;
  }
};

/// Never ends: each call pushes another unit.
struct Endless {
  static constexpr int kPushes = 1;
  struct Unit {
    std::int64_t n = 0;
  };
  TESSERA_KERNEL Unit first(Index at) const { return {at.i}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units& units) const {
    units.push({unit.n + 1});
    return UnitEnd::Done;
  }
};

const JobKernels& branchingWalkKernels();
const JobKernels& endlessKernels();

}  // namespace tessera::jobs::testing
