#pragma once

#include <cstdint>

#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

/// C = A B for square matrices of n rows, by row, doubles. Each element is summed by one lane in the order of
/// k, so the bits do not depend on the width of the group.
template <TaskWidth kWidth>
struct MatrixProduct {
  static constexpr const char* name = kWidth == TaskWidth::Block ? "matrix_product_block" : "matrix_product";
  static constexpr TaskWidth width = kWidth;
  struct Arguments {
    const double* a;
    const double* b;
    double* c;
    std::int64_t n;
  };
  struct Result {
    double trace;
  };

  /// Rows that a lane sums side by side, so that an element of B is read once for all of them.
  static constexpr int kRows = 4;

  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    const std::int64_t n = in.n;
    const std::int64_t strips = (n + kRows - 1) / kRows;
    for (std::int64_t piece = group.lane(); piece < strips * n; piece += group.width()) {
      sumStrip(in, piece / n * kRows, piece % n);
    }
    group.sync();
    double trace = 0.0;
    for (std::int64_t i = 0; group.lane() == 0 && i < n; ++i) trace += in.c[i * n + i];
    return {trace};
  }

 private:
  TESSERA_KERNEL static void sumStrip(const Arguments& in, std::int64_t row, std::int64_t column) {
    const std::int64_t n = in.n;
    double sums[kRows] = {};
    const double* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = in.a + (row + r < n ? row + r : n - 1) * n;
    for (std::int64_t k = 0; k < n; ++k) {
      const double b = in.b[k * n + column];
      for (int r = 0; r < kRows; ++r) sums[r] += rows[r][k] * b;
    }
    for (int r = 0; r < kRows && row + r < n; ++r) in.c[(row + r) * n + column] = sums[r];
  }
};

}  // namespace tessera::engine
