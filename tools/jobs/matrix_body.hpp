#pragma once

#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// C = A B, a tile of four rows and eight columns of C a unit: each number that is read serves several sums.
/// Of all matrices i is the column and j the row. Sums go along k alone, so the size of tiles changes no bit.
struct MatrixBody {
  static constexpr int kPushes = 0;
  static constexpr int kColumns = 8;
  static constexpr int kRows = 4;
  struct Unit {
    Index at;
  };
  Array<const double> a;
  Array<const double> b;
  Array<double> c;
  std::int64_t inner = 0;    ///< columns of A, rows of B
  std::int64_t columns = 0;  ///< of B and C
  std::int64_t rows = 0;     ///< of A and C

  TESSERA_KERNEL Unit first(Index at) const { return {at}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const std::int64_t column = kColumns * unit.at.i;
    const std::int64_t begin = kRows * unit.at.j;
    const std::int64_t end = begin + kRows < rows ? begin + kRows : rows;
    if (column + kColumns > columns) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t i = column; i < columns; ++i) addUp<1, 1>(i, row);
      }
      return UnitEnd::Done;
    }
    std::int64_t row = begin;
    for (; row + kRowsAtATime <= end; row += kRowsAtATime) addUp<kRowsAtATime, kColumns>(column, row);
    for (; row < end; ++row) addUp<1, kColumns>(column, row);
    return UnitEnd::Done;
  }

 private:
/// As many as there are registers for.
#if defined(__CUDA_ARCH__)
  static constexpr int kRowsAtATime = 4;
#else
  static constexpr int kRowsAtATime = 2;
#endif

  template <int Rows, int Columns>
  TESSERA_KERNEL void addUp(std::int64_t column, std::int64_t row) const {
    const double* left = &a(0, row);
    const double* right = &b(column, 0);
    double sums[Rows][Columns] = {};
    for (std::int64_t k = 0; k < inner; ++k, right += b.strideJ) {
      for (int m = 0; m < Rows; ++m) {
        for (int n = 0; n < Columns; ++n) sums[m][n] += left[m * a.strideJ + k] * right[n];
      }
    }
    for (int m = 0; m < Rows; ++m) {
      for (int n = 0; n < Columns; ++n) c(column + n, row + m) = sums[m][n];
    }
  }
};

const JobKernels& matrixKernels();

}  // namespace tessera::jobs
