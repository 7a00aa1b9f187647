#pragma once

#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs::testing {

/// A walk of random length from a cell; what it leaves there is a whole number, by the value of the cell.
struct CellWalk {
  static constexpr int kPushes = 0;
  struct Unit {
    Index at;
    std::uint32_t step = 0;
    double sum = 0.0;
  };
  Array<const double> values;
  Array<double> ends;
  SumArray steps;
  Index origin;  ///< of the units, among all cells
  bool isEndless = false;

  TESSERA_KERNEL Unit first(Index at) const { return {at, 0, 0.0}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const Index cell = origin + unit.at;
    const PhiloxWords words = philox(
        {static_cast<std::uint32_t>(cell.i), static_cast<std::uint32_t>(cell.j), unit.step++, 0}, {3, 0});
    unit.sum += values(unit.at) + static_cast<double>(words.x % 100);
    steps.add({0, 0, 0}, 1.0);
    if (words.y % 8 != 0 || isEndless) return UnitEnd::GoOn;
    ends(unit.at) = unit.sum;
    return UnitEnd::Done;
  }
};

const JobKernels& cellWalkKernels();

}  // namespace tessera::jobs::testing
