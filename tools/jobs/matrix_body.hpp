#pragma once

#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// C = A B, eight neighbours of a row of C a unit. Of all matrices i is the column and j the row.
struct MatrixBody {
  static constexpr int kPushes = 0;
  static constexpr std::int64_t kColumns = 8;
  struct Unit {
    Index at;
  };
  Array<const double> a;
  Array<const double> b;
  Array<double> c;
  std::int64_t inner = 0;    ///< columns of A, rows of B
  std::int64_t columns = 0;  ///< of B and C

  TESSERA_KERNEL Unit first(Index at) const { return {at}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const std::int64_t left = columns - kColumns * unit.at.i;
    const std::int64_t count = left < kColumns ? left : kColumns;
    const double* row = &a(0, unit.at.j);
    const double* column = &b(kColumns * unit.at.i, 0);
    double sums[kColumns] = {};
    for (std::int64_t k = 0; k < inner; ++k, column += b.strideJ) {
      if (count == kColumns) {
        for (int n = 0; n < kColumns; ++n) sums[n] += row[k] * column[n];
      } else {
        for (int n = 0; n < count; ++n) sums[n] += row[k] * column[n];
      }
    }
    for (int n = 0; n < count; ++n) c(kColumns * unit.at.i + n, unit.at.j) = sums[n];
    return UnitEnd::Done;
  }
};

const JobKernels& matrixKernels();

}  // namespace tessera::jobs
