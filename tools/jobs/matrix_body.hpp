#pragma once

#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// How C lies in memory: four rows side by side are cut into strips of columns, which lie one after the
/// other, so that a strip of four rows, the smallest piece of the job, is a box of units and one of C. A
/// thread that takes one near the end keeps no GPU waiting.
struct MatrixStrips {
  static constexpr std::int64_t kColumns = 8;  ///< of a tile, which is one unit
  static constexpr std::int64_t kRows = 4;
  static constexpr std::int64_t kMostTiles = 64;  ///< of a strip
  std::int64_t strips = 1;                        ///< of a row of tiles
  std::int64_t tiles = 1;                         ///< of a strip; the last one may have places beyond C

  static constexpr MatrixStrips of(std::int64_t columns) {
    const std::int64_t all = (columns + kColumns - 1) / kColumns;
    const std::int64_t strips = (all + kMostTiles - 1) / kMostTiles;
    return {strips, (all + strips - 1) / strips};
  }
  TESSERA_KERNEL std::int64_t width() const { return kColumns * tiles; }
  /// Where the element of this column and row of C lies.
  TESSERA_KERNEL Index placeOf(std::int64_t column, std::int64_t row) const {
    return {column % width(), kRows * (row / kRows * strips + column / width()) + row % kRows, 0};
  }
};

/// C = A B, a tile of four rows and eight columns of C a unit: each number that is read serves several sums.
/// Of all matrices i is the column and j the row, of units i is the tile of a strip and j the strip. Sums go
/// along k alone, so the size of tiles changes no bit.
struct MatrixBody {
  static constexpr int kPushes = 0;
  static constexpr int kColumns = MatrixStrips::kColumns;
  static constexpr int kRows = MatrixStrips::kRows;
  struct Unit {
    Index at;
  };
  Array<const double> a;
  Array<const double> b;
  Array<double> c;
  std::int64_t inner = 0;    ///< columns of A, rows of B
  std::int64_t columns = 0;  ///< of B and C
  std::int64_t rows = 0;     ///< of A and C
  MatrixStrips strips;

  TESSERA_KERNEL Unit first(Index at) const { return {at}; }
  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const std::int64_t column = unit.at.j % strips.strips * strips.width() + kColumns * unit.at.i;
    const std::int64_t begin = unit.at.j / strips.strips * kRows;
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
    const Index place = strips.placeOf(column, row);
    for (int m = 0; m < Rows; ++m) {
      for (int n = 0; n < Columns; ++n) c(place.i + n, place.j + m) = sums[m][n];
    }
  }
};

const JobKernels& matrixKernels();

}  // namespace tessera::jobs
