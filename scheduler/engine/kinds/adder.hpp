#pragma once

// Two kinds of tasks that ship with the engine: the smallest task there can be, and a sum over two vectors.
// Both have the same bits on host and device.

#include <cstdint>

#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

/// The least that a task can be, to measure what a task costs: the sum of two numbers.
template <TaskWidth kWidth>
struct Adder {
  static constexpr const char* name = kWidth == TaskWidth::Lane   ? "adder"
                                      : kWidth == TaskWidth::Warp ? "adder_warp"
                                                                  : "adder_block";
  static constexpr TaskWidth width = kWidth;
  struct Arguments {
    std::int64_t a, b;
  };
  struct Result {
    std::int64_t sum;  ///< a + b
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group&) {
    return {in.a + in.b};
  }
};

/// z = x + y, and the sum of z. The sum is made of 32 sums of every 32nd element, added in order, so its bits
/// do not depend on the width of the group.
struct VectorAdd {
  static constexpr const char* name = "vector_add";
  static constexpr TaskWidth width = TaskWidth::Warp;
  static constexpr int kParts = 32;
  struct Arguments {
    const double* x;  ///< n elements in the engine's memory
    const double* y;
    double* z;  ///< written
    std::int64_t n;
  };
  struct Result {
    double sum;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    auto* parts = static_cast<double*>(group.workspace(kParts * sizeof(double)));
    if (parts == nullptr) {
      group.fail(1);
      return {};
    }
    for (int part = group.lane(); part < kParts; part += group.width()) {
      double sum = 0.0;
      for (std::int64_t i = part; i < in.n; i += kParts) sum += in.z[i] = in.x[i] + in.y[i];
      parts[part] = sum;
    }
    group.sync();
    double sum = 0.0;
    for (int part = 0; part < kParts; ++part) sum += parts[part];
    return {sum};
  }
};

}  // namespace tessera::engine
