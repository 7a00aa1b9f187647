#pragma once

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

/// result = f - A u where `weight` is above 0, else 0; f may be the result.
struct WeightedResidual {
  static constexpr const char* kName = "Solver::levelResidual";
  static constexpr bool kStreams = true;
  StencilFields A;
  ReadOnlyField<double> weight;
  Field<double> f;
  ReadOnlyField<double> u;
  Field<double> result;
  TESSERA_KERNEL void operator()(Index x) const {
    const double rest = f(x) - A.row(u, x);
    result(x) = weight(x) > 0.0 ? rest : 0.0;
  }
};

/// result = A u likewise.
struct WeightedRows {
  static constexpr const char* kName = "Solver::levelRows";
  static constexpr bool kStreams = true;
  StencilFields A;
  ReadOnlyField<double> weight, u;
  Field<double> result;
  TESSERA_KERNEL void operator()(Index x) const {
    const double row = A.row(u, x);
    result(x) = weight(x) > 0.0 ? row : 0.0;
  }
};

/// number = 1 in cells whose row has an entry, else 0
struct HasEntries {
  static constexpr const char* kName = "Solver::hasEntries";
  StencilFields A;
  Field<double> number;
  TESSERA_KERNEL void operator()(Index x) const { number(x) = A.diagonal(x) > 0.0 ? 1.0 : 0.0; }
};

/// weight = volume, and 0 in holes: cells whose row has no entry, and which have no source.
struct LeaveOutHoles {
  static constexpr const char* kName = "Solver::leaveOutHoles";
  StencilFields A;
  ReadOnlyField<double> f;
  double volume = 1.0;
  Field<double> weight;
  TESSERA_KERNEL void operator()(Index x) const {
    weight(x) = A.diagonal(x) == 0.0 && f(x) == 0.0 ? 0.0 : volume;
  }
};

/// p = r + part (p - length v)
struct NextDirection {
  static constexpr const char* kName = "Solver::nextDirection";
  static constexpr bool kStreams = true;
  double part = 0.0;
  double length = 0.0;
  ReadOnlyField<double> r, v;
  Field<double> p;
  TESSERA_KERNEL void operator()(Index x) const { p(x) = r(x) + part * (p(x) - length * v(x)); }
};

}  // namespace tessera
