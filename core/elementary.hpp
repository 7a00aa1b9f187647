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

/// 2^k for whole k from -1022 to 1023, where `rounded` is kRounder + k.
TESSERA_KERNEL inline double powerOfTwo(double rounded) {
  return __builtin_bit_cast(double, (__builtin_bit_cast(std::uint64_t, rounded) + 1023) << 52);
}

}  // namespace detail

/// e^x with a relative error below 2^-52. Below -708 it is 0, above 709 infinity; NaN stays NaN.
TESSERA_KERNEL inline double plainExp(double x) {
  constexpr double kLog2e = 0x1.71547652b82fep0;
  constexpr double kLn2High =
      0x1.62e42fefa0000p-1;  // with so many zeros behind it that products with it are exact
  constexpr double kLn2Low = 0x1.cf79abc9e3b39p-40;
  const double in = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
  const double rounded = in * kLog2e + detail::kRounder;
  const double k = rounded - detail::kRounder;
  const double r = (in - k * kLn2High) - k * kLn2Low;
  // Taylor's series up to r^13, in pairs of pairs, so that few of its operations wait for others.
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double p2 = (0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double p6 = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double p10 =
      (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
  const double value = (1.0 + (r + r2 * (p2 + r4 * (p6 + r4 * p10)))) * detail::powerOfTwo(rounded);
  return x < -708.0 ? 0.0 : (x > 709.0 ? __builtin_huge_val() : value);
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
