#pragma once

#include "core/exec/exec.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"

namespace tessera {

/// The matrix of one box: of cell x the row
///
///   sink(x) u(x) + sum over its six faces of k (u(x) - u(beyond the face)),
///
/// where kx(x) is for the face between x - ex and x in the row of x, and belowX(x) for the same face in the
/// row of x - ex: of a symmetric matrix the same numbers. Beyond the domain u is 0. A plain value that
/// kernels capture.
struct StencilFields {
  ReadOnlyField<double> sink, kx, ky, kz, belowX, belowY, belowZ, inverseDiagonal;

  template <class Field>
  TESSERA_KERNEL double row(const Field& u, Index x) const {
    const double here = u(x);
    const double alongX = kx(x) * (here - u(x - ex)) + belowX(x + ex) * (here - u(x + ex));
    const double alongY = ky(x) * (here - u(x - ey)) + belowY(x + ey) * (here - u(x + ey));
    const double alongZ = kz(x) * (here - u(x - ez)) + belowZ(x + ez) * (here - u(x + ez));
    return sink(x) * here + ((alongX + alongY) + alongZ);
  }
  /// What the neighbours of x add to its row, with the sign changed.
  template <class Field>
  TESSERA_KERNEL double around(const Field& u, Index x) const {
    const double alongX = kx(x) * u(x - ex) + belowX(x + ex) * u(x + ex);
    const double alongY = ky(x) * u(x - ey) + belowY(x + ey) * u(x + ey);
    const double alongZ = kz(x) * u(x - ez) + belowZ(x + ez) * u(x + ez);
    return (alongX + alongY) + alongZ;
  }
  TESSERA_KERNEL double diagonal(Index x) const {
    return sink(x) + (((kx(x) + belowX(x + ex)) + (ky(x) + belowY(x + ey))) + (kz(x) + belowZ(x + ez)));
  }
};

/// result = A u
template <class Exec>
void applyStencil(Exec exec, const Box& box, StencilFields A, Field<double> u, Field<double> result) {
  forEach(exec, "Solver::apply", box, [=] TESSERA_KERNEL(Index x) { result(x) = A.row(u, x); });
}

/// result = f - A u
template <class Exec>
void stencilResidual(Exec exec, const Box& box, StencilFields A, Field<double> f, Field<double> u,
                     Field<double> result) {
  forEach(exec, "Solver::residual", box, [=] TESSERA_KERNEL(Index x) { result(x) = f(x) - A.row(u, x); });
}

/// One half of a Gauss-Seidel sweep: the cells whose indices add up to an even number, or to an odd one, of
/// which none is another's neighbour. The others keep their value.
template <class Exec>
void smoothColour(Exec exec, const Box& box, StencilFields A, Field<double> f, Field<double> u,
                  std::int64_t colour) {
  forEach(exec, "Solver::smooth", box, [=] TESSERA_KERNEL(Index x) {
    const double solved = (f(x) + A.around(u, x)) * A.inverseDiagonal(x);
    u(x) = ((x.i + x.j + x.k + colour) & 1) == 0 ? solved : u(x);
  });
}

/// The first half of the first sweep, of u = 0.
template <class Exec>
void startColour(Exec exec, const Box& box, StencilFields A, Field<double> f, Field<double> u,
                 std::int64_t colour) {
  forEach(exec, "Solver::start", box, [=] TESSERA_KERNEL(Index x) {
    const double solved = f(x) * A.inverseDiagonal(x);
    u(x) = ((x.i + x.j + x.k + colour) & 1) == 0 ? solved : 0.0;
  });
}

/// u = f / diagonal
template <class Exec>
void divideByDiagonal(Exec exec, const Box& box, StencilFields A, Field<double> f, Field<double> u) {
  forEach(exec, "Solver::divide", box, [=] TESSERA_KERNEL(Index x) { u(x) = f(x) * A.inverseDiagonal(x); });
}

/// 1 / diagonal; 0 where that is 0.
template <class Exec>
void invertDiagonal(Exec exec, const Box& box, StencilFields A, Field<double> inverse) {
  forEach(exec, "Solver::invert", box, [=] TESSERA_KERNEL(Index x) {
    const double d = A.diagonal(x);
    inverse(x) = d > 0.0 ? 1.0 / d : 0.0;
  });
}

/// u = u + a p
template <class Exec>
void addMultiple(Exec exec, const Box& box, double a, Field<double> p, Field<double> u) {
  forEach(exec, "Solver::add", box, [=] TESSERA_KERNEL(Index x) { u(x) = u(x) + a * p(x); });
}

/// p = z + a p
template <class Exec>
void extendDirection(Exec exec, const Box& box, double a, Field<double> z, Field<double> p) {
  forEach(exec, "Solver::extend", box, [=] TESSERA_KERNEL(Index x) { p(x) = z(x) + a * p(x); });
}

/// to = factor from
template <class Exec>
void copyCells(Exec exec, const Box& box, double factor, Field<double> from, Field<double> to) {
  forEach(exec, "Solver::copy", box, [=] TESSERA_KERNEL(Index x) { to(x) = factor * from(x); });
}

template <class Exec>
void setCells(Exec exec, const Box& box, double number, Field<double> to) {
  forEach(exec, "Solver::set", box, [=] TESSERA_KERNEL(Index x) { to(x) = number; });
}

template <class Exec>
void addConstant(Exec exec, const Box& box, double a, Field<double> u) {
  forEach(exec, "Solver::shift", box, [=] TESSERA_KERNEL(Index x) { u(x) = u(x) + a; });
}

}  // namespace tessera
