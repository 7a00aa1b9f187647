#pragma once

#include <cstdint>

#include "core/kernel.hpp"

// The functions of core/elementary.hpp for numbers of 32 bits: additions and products alone, so the same bits
// from each compiler and on each device, and as little work as their accuracy allows.

namespace tessera {

/// A number between 0 and 1 from a random word, neither of them included: its first 23 bits and a half, which
/// a float holds exactly.
TESSERA_KERNEL inline float unitFloat(std::uint32_t word) {
  return __builtin_bit_cast(float, 0x3f800000U | (word >> 9U)) -
         0x1.fffffep-1F;  // 1 + n 2^-23, less 1 - 2^-24
}

/// The natural logarithm of a positive number that is not denormal, with a relative error below 2^-21.
TESSERA_KERNEL inline float plainLog(float x) {
  constexpr float kLn2High = 0x1.62ep-1F;  // with so many zeros behind it that products with powers are exact
  constexpr float kLn2Low = 0x1.0bfbe8p-15F;
  constexpr std::uint32_t kRootOfHalf = 0x3f3504f3U;  // the bits of sqrt(1/2)
  // x = m 2^k with m between sqrt(1/2) and sqrt(2), and ln m = 2 artanh((m - 1)/(m + 1)).
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::int32_t k = static_cast<std::int32_t>(bits - kRootOfHalf) >> 23;
  const float m = __builtin_bit_cast(float, bits - (static_cast<std::uint32_t>(k) << 23U));
  const float s = (m - 1.0F) / (m + 1.0F);
  const float s2 = s * s;
  const float tail = s2 * ((1.0F / 3 + s2 * (1.0F / 5)) + (s2 * s2) * (1.0F / 7 + s2 * (1.0F / 9)));
  // k as a float, without the slow conversion: 1.5 * 2^23 has its bits at the end of a float.
  const float powers = __builtin_bit_cast(float, 0x4b400000U + static_cast<std::uint32_t>(k)) - 0x1.8p23F;
  return powers * kLn2High + (2.0F * (s + s * tail) + powers * kLn2Low);
}

/// A sine and the cosine of the same angle.
struct SineCosineFloat {
  float sine = 0.0F;
  float cosine = 1.0F;
};

/// Of an angle in turns (1 is once around), below 2^20, each with an error below 2^-22. At quarters of a turn
/// both are exact.
TESSERA_KERNEL inline SineCosineFloat plainSineCosine(float turns) {
  constexpr float kPi = 0x1.921fb6p1F;
  constexpr float kRounder = 0x1.8p23F;  // added to a small number it rounds it to a whole one
  const float quarters = 4.0F * turns;
  const float rounded = quarters + kRounder;
  const auto quadrant = __builtin_bit_cast(std::uint32_t, rounded);
  const float a = (quarters - (rounded - kRounder)) * (0.5F * kPi);  // within an eighth of a turn
  const float a2 = a * a;
  const float a4 = a2 * a2;
  const float sine =
      a + (a * a2) * ((-1.0F / 6 + a2 * (1.0F / 120)) + a4 * (-1.0F / 5040 + a2 * (1.0F / 362880)));
  const float cosine = 1.0F + (-0.5F * a2 + a4 * ((1.0F / 24 + a2 * (-1.0F / 720)) + a4 * (1.0F / 40320)));
  const bool swaps = (quadrant & 1U) != 0;
  const float first = swaps ? cosine : sine;
  const float second = swaps ? sine : cosine;
  return {(quadrant & 2U) != 0 ? -first : first, ((quadrant + 1) & 2U) != 0 ? -second : second};
}

}  // namespace tessera
