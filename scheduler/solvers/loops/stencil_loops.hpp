#pragma once

#include <cstdint>

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
/// row of x - ex. Beyond the domain u is 0. `Numbers` has these and inverseDiagonal; a plain value that
/// kernels capture.
template <class Numbers>
struct Stencil : Numbers {
  template <class Field>
  TESSERA_KERNEL double row(const Field& u, Index x) const {
    const double here = u(x);
    const double alongX = this->kx(x) * (here - u(x - ex)) + this->belowX(x + ex) * (here - u(x + ex));
    const double alongY = this->ky(x) * (here - u(x - ey)) + this->belowY(x + ey) * (here - u(x + ey));
    const double alongZ = this->kz(x) * (here - u(x - ez)) + this->belowZ(x + ez) * (here - u(x + ez));
    return this->sink(x) * here + ((alongX + alongY) + alongZ);
  }
  /// What the neighbours of x add to its row, with the sign changed.
  template <class Field>
  TESSERA_KERNEL double around(const Field& u, Index x) const {
    const double alongX = this->kx(x) * u(x - ex) + this->belowX(x + ex) * u(x + ex);
    const double alongY = this->ky(x) * u(x - ey) + this->belowY(x + ey) * u(x + ey);
    const double alongZ = this->kz(x) * u(x - ez) + this->belowZ(x + ez) * u(x + ez);
    return (alongX + alongY) + alongZ;
  }
  TESSERA_KERNEL double diagonal(Index x) const {
    return this->sink(x) + (((this->kx(x) + this->belowX(x + ex)) + (this->ky(x) + this->belowY(x + ey))) +
                            (this->kz(x) + this->belowZ(x + ez)));
  }
};

struct NumbersOfAll {
  ReadOnlyField<double> sink, kx, ky, kz, belowX, belowY, belowZ, inverseDiagonal;
};
/// Each face has one number: kernels have fewer fields to keep.
struct NumbersOfSymmetric {
  ReadOnlyField<double> sink, kx, ky, kz, inverseDiagonal;
  TESSERA_KERNEL double belowX(Index x) const { return kx(x); }
  TESSERA_KERNEL double belowY(Index x) const { return ky(x); }
  TESSERA_KERNEL double belowZ(Index x) const { return kz(x); }
};
using StencilFields = Stencil<NumbersOfAll>;
using SymmetricFields = Stencil<NumbersOfSymmetric>;

/// result = A u
template <class Matrix>
struct ApplyStencil {
  static constexpr const char* kName = "Solver::apply";
  static constexpr bool kStreams = true;
  Matrix A;
  ReadOnlyField<double> u;
  Field<double> result;
  TESSERA_KERNEL void operator()(Index x) const { result(x) = A.row(u, x); }
};

/// result = f - A u; f may be the result.
template <class Matrix>
struct StencilResidual {
  static constexpr const char* kName = "Solver::residual";
  static constexpr bool kStreams = true;
  Matrix A;
  Field<double> f;
  ReadOnlyField<double> u;
  Field<double> result;
  TESSERA_KERNEL void operator()(Index x) const { result(x) = f(x) - A.row(u, x); }
};

/// One half of a Gauss-Seidel sweep: the cells whose indices add up to an even number, or to an odd one, of
/// which none is another's neighbour. The others keep their value.
template <class Matrix>
struct SmoothColour {
  static constexpr const char* kName = "Solver::smooth";
  static constexpr bool kStreams = true;
  Matrix A;
  ReadOnlyField<double> f;
  Field<double> u;
  std::int64_t colour = 0;
  TESSERA_KERNEL void operator()(Index x) const {
    const double solved = (f(x) + A.around(u, x)) * A.inverseDiagonal(x);
    u(x) = ((x.i + x.j + x.k + colour) & 1) == 0 ? solved : u(x);
  }
};

/// The first half of the first sweep, of u = 0.
template <class Matrix>
struct StartColour {
  static constexpr const char* kName = "Solver::start";
  static constexpr bool kStreams = true;
  Matrix A;
  ReadOnlyField<double> f;
  Field<double> u;
  std::int64_t colour = 0;
  TESSERA_KERNEL void operator()(Index x) const {
    const double solved = f(x) * A.inverseDiagonal(x);
    u(x) = ((x.i + x.j + x.k + colour) & 1) == 0 ? solved : 0.0;
  }
};

template <class Matrix>
StencilResidual<Matrix> residualOf(const Matrix& A, Field<double> f, ReadOnlyField<double> u,
                                   Field<double> result) {
  return {A, f, u, result};
}
template <class Matrix>
SmoothColour<Matrix> smoothing(const Matrix& A, ReadOnlyField<double> f, Field<double> u,
                               std::int64_t colour) {
  return {A, f, u, colour};
}
template <class Matrix>
StartColour<Matrix> starting(const Matrix& A, ReadOnlyField<double> f, Field<double> u, std::int64_t colour) {
  return {A, f, u, colour};
}

/// u = f / diagonal
struct DivideByDiagonal {
  static constexpr const char* kName = "Solver::divide";
  StencilFields A;
  ReadOnlyField<double> f;
  Field<double> u;
  TESSERA_KERNEL void operator()(Index x) const { u(x) = f(x) * A.inverseDiagonal(x); }
};

/// 1 / diagonal; 0 where that is 0.
struct InvertDiagonal {
  static constexpr const char* kName = "Solver::invert";
  StencilFields A;
  Field<double> inverse;
  TESSERA_KERNEL void operator()(Index x) const {
    const double d = A.diagonal(x);
    inverse(x) = d > 0.0 ? 1.0 / d : 0.0;
  }
};

/// u = u + a p
struct AddMultiple {
  static constexpr const char* kName = "Solver::add";
  static constexpr bool kStreams = true;
  double a = 0.0;
  ReadOnlyField<double> p;
  Field<double> u;
  TESSERA_KERNEL void operator()(Index x) const { u(x) = u(x) + a * p(x); }
};

/// p = z + a p
struct ExtendDirection {
  static constexpr const char* kName = "Solver::extend";
  static constexpr bool kStreams = true;
  double a = 0.0;
  ReadOnlyField<double> z;
  Field<double> p;
  TESSERA_KERNEL void operator()(Index x) const { p(x) = z(x) + a * p(x); }
};

/// to = factor from; both may be the same.
struct ScaleCells {
  static constexpr const char* kName = "Solver::scale";
  double factor = 1.0;
  Field<double> from, to;
  TESSERA_KERNEL void operator()(Index x) const { to(x) = factor * from(x); }
};

/// to = factor from
struct CopyCells {
  static constexpr const char* kName = "Solver::copy";
  double factor = 1.0;
  ReadOnlyField<double> from;
  Field<double> to;
  TESSERA_KERNEL void operator()(Index x) const { to(x) = factor * from(x); }
};

struct SetCells {
  static constexpr const char* kName = "Solver::set";
  double number = 0.0;
  Field<double> to;
  TESSERA_KERNEL void operator()(Index x) const { to(x) = number; }
};

/// 1 where the bits of two numbers differ, else 0.
struct DiffersFrom {
  static constexpr const char* kName = "Solver::differs";
  ReadOnlyField<double> a, b;
  TESSERA_KERNEL double operator()(Index x) const {
    return __builtin_bit_cast(std::int64_t, a(x)) == __builtin_bit_cast(std::int64_t, b(x)) ? 0.0 : 1.0;
  }
};

/// 1 where a row along x has other bits than the one at `first`, along y or along z, else 0.
struct DiffersFromRow {
  static constexpr const char* kName = "Solver::repeats";
  ReadOnlyField<double> a;
  Index first;
  int axis = 1;
  TESSERA_KERNEL double operator()(Index x) const {
    const Index other = axis == 1 ? Index{x.i, first.j, x.k} : Index{x.i, x.j, first.k};
    return __builtin_bit_cast(std::int64_t, a(x)) == __builtin_bit_cast(std::int64_t, a(other)) ? 0.0 : 1.0;
  }
};

/// What a dot product adds.
struct Product {
  static constexpr const char* kName = "Solver::dot";
  ReadOnlyField<double> a, b;
  TESSERA_KERNEL double operator()(Index x) const { return a(x) * b(x); }
};

/// With a weight for each cell.
struct WeightedProduct {
  static constexpr const char* kName = "Solver::weightedDot";
  ReadOnlyField<double> a, b, weight;
  TESSERA_KERNEL double operator()(Index x) const { return weight(x) * (a(x) * b(x)); }
};

/// What sums add for a number.
enum class Summand { Number, Amount, Square };
struct WeightedSummand {
  static constexpr const char* kName = "Solver::sum";
  ReadOnlyField<double> a, weight;
  bool isWeighted = false;
  Summand what = Summand::Number;
  TESSERA_KERNEL double operator()(Index x) const {
    const double number = a(x);
    const double amount = what == Summand::Amount && number < 0.0 ? -number : number;
    return (isWeighted ? weight(x) : 1.0) * (what == Summand::Square ? number * number : amount);
  }
};

}  // namespace tessera
