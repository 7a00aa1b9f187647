#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/kernel.hpp"

namespace tessera::engine {

/// Functions out of additions, multiplications and divisions alone, which round alike on every processor: a
/// task that uses these instead of the mathematical library has the same bits on the host and on a device.
/// Errors are a few units in the last place in the ranges given.

inline constexpr double kHalfPi = 1.57079632679489661923;
inline constexpr double kTwoPi = 6.28318530717958647692;

/// cos z for |z| <= pi / 2, by its series.
TESSERA_KERNEL inline double plainCosine(double z) {
  const double s = z * z;
  double sum = 0.0;
  for (int n = 24; n > 0; n -= 2) sum = (1.0 - sum) * s / (n * (n - 1));
  return 1.0 - sum;
}

/// sin z for |z| <= pi / 2, by its series.
TESSERA_KERNEL inline double plainSine(double z) {
  const double s = z * z;
  double sum = 0.0;
  for (int n = 25; n > 1; n -= 2) sum = (1.0 - sum) * s / (n * (n - 1));
  return z * (1.0 - sum);
}

/// cos(2 pi x) for 0 <= x < 1.
TESSERA_KERNEL inline double plainCosineOfTurns(double x) {
  double turn = x < 0.5 ? x : 1.0 - x;  // cos(2 pi (1 - x)) is the same
  if (turn > 0.25) return -plainCosine(kTwoPi * (0.5 - turn));
  return plainCosine(kTwoPi * turn);
}

/// ln x for normal x > 0.
TESSERA_KERNEL inline double plainLog(double x) {
  std::uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  double m;
  memcpy(&m, &bits, sizeof(m));
  if (m > 1.41421356237309515) {
    m = m * 0.5;
    ++exponent;
  }
  const double t = (m - 1.0) / (m + 1.0);
  const double s = t * t;
  double sum = 0.0;
  for (int n = 23; n > 0; n -= 2) sum = sum * s + 1.0 / n;
  return exponent * 0.693147180559945309417 + 2.0 * t * sum;
}

/// exp x for -700 <= x <= 700; 0 below.
TESSERA_KERNEL inline double plainExp(double x) {
  if (x < -700.0) return 0.0;
  const double scaled = x * 1.44269504088896340736;
  const auto whole = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
  double sum = 1.0;
  for (int n = 14; n > 0; --n) sum = 1.0 + sum * r / n;
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 + whole) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

/// A random word that depends on its three numbers alone (splitmix64's mixing, three times): number `at` of
/// stream `stream`. The same for any order in which tasks run.
TESSERA_KERNEL inline std::uint64_t randomWord(std::uint64_t seed, std::uint64_t stream, std::uint64_t at) {
  std::uint64_t word = seed;
  const std::uint64_t parts[] = {stream, at, 0x2545f4914f6cdd1dULL};
  for (const std::uint64_t part : parts) {
    word += 0x9e3779b97f4a7c15ULL * (part + 1);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    word ^= word >> 31;
  }
  return word;
}

/// Above 0 and below 1.
TESSERA_KERNEL inline double randomUniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t at) {
  return (static_cast<double>(randomWord(seed, stream, at) >> 12) + 0.5) * 0x1p-52;
}

/// Normal with mean 0 and variance 1, by Box and Muller.
TESSERA_KERNEL inline double randomNormal(std::uint64_t seed, std::uint64_t stream, std::uint64_t at) {
  const double radius = randomUniform(seed, stream, 2 * at);
  const double turns = randomUniform(seed, stream, 2 * at + 1);
  return sqrt(-2.0 * plainLog(radius)) * plainCosineOfTurns(turns);
}

}  // namespace tessera::engine
