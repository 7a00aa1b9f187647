#pragma once

#include <cstdint>

#include "core/kernel.hpp"

// Functions that libraries compute with other bits from machine to machine, in additions and products alone:
// the same bits from each compiler and on each device, and loops over them become vectors. Nothing here
// branches.

namespace tessera {

namespace detail {

/// 1.5 * 2^52: what is added to a small number to round it to a whole one, found in the lowest bits of the
/// sum.
inline constexpr double kRounder = 0x1.8p52;

/// The whole numbers that share the place of `Real`, which is a double or a vector of them.
template <class Real>
struct BitsOf {
  typedef std::uint64_t Type
      __attribute__((vector_size(sizeof(Real))));  // NOLINT: no `using` takes the attribute
};
template <>
struct BitsOf<double> {
  using Type = std::uint64_t;
};

}  // namespace detail

/// Sets `result` to e^x, as `plainExp` gives it. `Real` is double or, on the host, a vector of doubles
/// (`__attribute__((vector_size(32)))`), each of which has the bits of a double alone. By reference, since
/// how wide vectors are returned depends on the processor.
template <class Real>
TESSERA_KERNEL inline void setToPlainExp(Real& result, const Real& x) {
  using Bits = typename detail::BitsOf<Real>::Type;
  constexpr double kLog2e = 0x1.71547652b82fep0;
  constexpr double kLn2High =
      0x1.62e42fefa0000p-1;  // with so many zeros behind it that products with it are exact
  constexpr double kLn2Low = 0x1.cf79abc9e3b39p-40;
  const Real above = x < -708.0 ? Real{} - 708.0 : x;
  const Real in = x > 709.0 ? Real{} + 709.0 : above;
  const Real rounded = in * kLog2e + detail::kRounder;
  const Real k = rounded - detail::kRounder;
  const Real r = (in - k * kLn2High) - k * kLn2Low;
  // Taylor's series up to r^13, in pairs of pairs, so that few of its operations wait for others.
  const Real r2 = r * r;
  const Real r4 = r2 * r2;
  const Real p2 = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const Real p6 = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const Real p10 = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
  const Real power = __builtin_bit_cast(Real, (__builtin_bit_cast(Bits, rounded) + 1023U) << 52U);
  const Real value = (1.0 + (r + r2 * (p2 + r4 * (p6 + r4 * p10)))) * power;
  const Real atLeast = x < -708.0 ? Real{} : value;
  result = x > 709.0 ? Real{} + __builtin_huge_val() : atLeast;
}

/// e^x with a relative error below 2^-52. Below -708 it is 0, above 709 infinity; NaN stays NaN.
TESSERA_KERNEL inline double plainExp(double x) {
  double result;
  setToPlainExp(result, x);
  return result;
}

/// The natural logarithm of a positive number that is not denormal, with a relative error below 2^-50.
TESSERA_KERNEL inline double plainLog(double x) {
  constexpr double kLn2High = 0x1.62e42fefa0000p-1;
  constexpr double kLn2Low = 0x1.cf79abc9e3b39p-40;
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcdU;  // the bits of sqrt(1/2)
  // x = m 2^k with m between sqrt(1/2) and sqrt(2), and ln m = 2 artanh((m - 1)/(m + 1)).
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const std::int64_t k = static_cast<std::int64_t>(bits - kRootOfHalf) >> 52;
  const double m = __builtin_bit_cast(double, bits - (static_cast<std::uint64_t>(k) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double p3 = (1.0 / 3 + s2 * (1.0 / 5)) + s4 * (1.0 / 7 + s2 * (1.0 / 9));
  const double p11 = (1.0 / 11 + s2 * (1.0 / 13)) + s4 * (1.0 / 15 + s2 * (1.0 / 17));
  const double p19 = 1.0 / 19 + s2 * (1.0 / 21);
  const double tail = s2 * (p3 + (s4 * s4) * (p11 + (s4 * s4) * p19));
  const auto powers = static_cast<double>(k);
  return powers * kLn2High + (2.0 * (s + s * tail) + powers * kLn2Low);
}

/// A sine and the cosine of the same angle.
struct SineCosine {
  double sine = 0.0;
  double cosine = 1.0;
};

/// Of an angle in turns (1 is once around), below 2^50, each with an error below 2^-52. At quarters of a turn
/// both are exact.
TESSERA_KERNEL inline SineCosine plainSineCosine(double turns) {
  constexpr double kPi = 0x1.921fb54442d18p1;
  const double quarters = 4.0 * turns;
  const double rounded = quarters + detail::kRounder;
  const std::uint64_t quadrant = __builtin_bit_cast(std::uint64_t, rounded);
  const double a = (quarters - (rounded - detail::kRounder)) * (0.5 * kPi);  // within an eighth of a turn
  const double a2 = a * a;
  const double a4 = a2 * a2;
  const double s3 = (-1.0 / 6 + a2 * (1.0 / 120)) + a4 * (-1.0 / 5040 + a2 * (1.0 / 362880));
  const double s11 = (-1.0 / 39916800 + a2 * (1.0 / 6227020800.0)) + a4 * (-1.0 / 1307674368000.0);
  const double sine = a + (a * a2) * (s3 + (a4 * a4) * s11);
  const double c4 = (1.0 / 24 + a2 * (-1.0 / 720)) + a4 * (1.0 / 40320 + a2 * (-1.0 / 3628800));
  const double c12 = (1.0 / 479001600 + a2 * (-1.0 / 87178291200.0)) + a4 * (1.0 / 20922789888000.0);
  const double cosine = 1.0 + (-0.5 * a2 + a4 * (c4 + (a4 * a4) * c12));
  const bool swaps = (quadrant & 1U) != 0;
  const double first = swaps ? cosine : sine;
  const double second = swaps ? sine : cosine;
  return {(quadrant & 2U) != 0 ? -first : first, ((quadrant + 1) & 2U) != 0 ? -second : second};
}

}  // namespace tessera
