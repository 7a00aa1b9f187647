#pragma once

#include <cstdint>

#include "scheduler/engine/task_kind.hpp"

/// A row of cells through one time step of du/dt = -rate u: each cell in as many substeps of forward Euler as
/// its amount asks for, which is why the cells of a row take different times.
struct ReactRow {
  static constexpr const char* name = "react_row";
  static constexpr tessera::engine::TaskWidth width = tessera::engine::TaskWidth::Warp;
  struct Arguments {
    const double* old;
    double* next;
    double rateTimesDt;
    std::int64_t cells;
  };
  struct Result {
    std::int64_t substeps;  ///< of the first cell
  };

  TESSERA_KERNEL static std::int64_t substepsOf(double amount) { return amount > 2.0 ? 8 : 4; }

  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    for (std::int64_t i = group.lane(); i < in.cells; i += group.width()) {
      double u = in.old[i];
      const std::int64_t substeps = substepsOf(u);
      const double kept = 1.0 - in.rateTimesDt / static_cast<double>(substeps);
      for (std::int64_t n = 0; n < substeps; ++n) u *= kept;
      in.next[i] = u;
    }
    group.sync();
    return {substepsOf(in.old[0])};
  }
};
