#include "core/elementary.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "core/elementary_float.hpp"
#include "core/philox.hpp"

namespace tessera::test {
namespace {

constexpr long double kPiLong = std::numbers::pi_v<long double>;

/// The largest |error| of `of(x)` against `exact(x)` over `count` numbers from `low` to `high`.
template <class Of, class Exact>
double largestError(double low, double high, int count, Of of, Exact exact) {
  long double largest = 0.0L;
  for (int n = 0; n <= count; ++n) {
    const double x = low + (high - low) * n / count;
    largest = std::max(largest, std::abs(static_cast<long double>(of(x)) - exact(x)));
  }
  return static_cast<double>(largest);
}

TEST(Elementary, TheExponentialIsRightToTheBoundItStates) {
  const auto relative = [](double x) {
    const long double exact = std::exp(static_cast<long double>(x));
    return static_cast<double>((static_cast<long double>(plainExp(x)) - exact) / exact);
  };
  const auto zero = [](double) { return 0.0L; };
  EXPECT_LT(largestError(-708.0, 709.0, 300001, relative, zero), 0x1p-52);
  EXPECT_LT(largestError(-1.0, 1.0, 300001, relative, zero), 0x1p-52);
  EXPECT_EQ(plainExp(0.0), 1.0);
}

TEST(Elementary, TheExponentialHasLimits) {
  EXPECT_EQ(plainExp(-709.0), 0.0);
  EXPECT_EQ(plainExp(-std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(plainExp(710.0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(plainExp(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Elementary, SineAndCosineAreRightToTheBoundTheyState) {
  const auto exactSine = [](double turns) {
    return std::sin(2.0L * kPiLong * (turns - std::round(static_cast<long double>(turns))));
  };
  const auto exactCosine = [](double turns) {
    return std::cos(2.0L * kPiLong * (turns - std::round(static_cast<long double>(turns))));
  };
  for (const double high : {1.0, 1000.0}) {
    EXPECT_LT(largestError(
                  -high, high, 300001, [](double t) { return plainSineCosine(t).sine; }, exactSine),
              0x1p-52);
    EXPECT_LT(largestError(
                  -high, high, 300001, [](double t) { return plainSineCosine(t).cosine; }, exactCosine),
              0x1p-52);
  }
}

TEST(Elementary, QuartersOfATurnAreExact) {
  const std::array<double, 4> sines{0.0, 1.0, 0.0, -1.0};
  for (int q = -4; q < 8; ++q) {
    const SineCosine at = plainSineCosine(0.25 * q);
    EXPECT_EQ(at.sine, sines[static_cast<std::size_t>(q + 4) % 4]) << q;
    EXPECT_EQ(at.cosine, sines[static_cast<std::size_t>(q + 5) % 4]) << q;
  }
}

TEST(Elementary, TheLogarithmIsThatOfTheLibrary) {
  for (int n = -2000; n <= 2000; ++n) {
    const double x = std::exp(0.3 * n);
    EXPECT_NEAR(plainLog(x), std::log(x), 0x1p-50 * std::abs(std::log(x)) + 1e-300) << x;
    const double nearOne = 1.0 + n * 1e-9;
    EXPECT_NEAR(plainLog(nearOne), std::log(nearOne), 0x1p-50 * std::abs(std::log(nearOne))) << n;
  }
  EXPECT_EQ(plainLog(1.0), 0.0);
}

TEST(Elementary, FloatsAreRightToTheBoundsTheyState) {
  const auto at = [](double x) { return static_cast<float>(x); };
  const auto exactSine = [&](double turns) { return std::sin(2.0L * kPiLong * at(turns)); };
  const auto exactCosine = [&](double turns) { return std::cos(2.0L * kPiLong * at(turns)); };
  EXPECT_LT(largestError(
                -1.0, 1.0, 300001, [&](double t) { return plainSineCosine(at(t)).sine; }, exactSine),
            0x1p-22);
  EXPECT_LT(largestError(
                -1.0, 1.0, 300001, [&](double t) { return plainSineCosine(at(t)).cosine; }, exactCosine),
            0x1p-22);
  for (int n = -280; n <= 280; ++n) {
    const float x = at(std::exp(0.3 * n));
    const double exact = std::log(static_cast<double>(x));
    EXPECT_NEAR(plainLog(x), exact, 0x1p-21 * std::abs(exact)) << x;
    const float nearOne = at(1.0 + n * 1e-4);
    const double small = std::log(static_cast<double>(nearOne));
    EXPECT_NEAR(plainLog(nearOne), small, 0x1p-21 * std::abs(small)) << n;
  }
  EXPECT_EQ(plainLog(1.0F), 0.0F);
  for (int q = -4; q < 8; ++q) {
    const SineCosineFloat there = plainSineCosine(0.25F * static_cast<float>(q));
    EXPECT_EQ(there.sine, at(plainSineCosine(0.25 * q).sine)) << q;
    EXPECT_EQ(there.cosine, at(plainSineCosine(0.25 * q).cosine)) << q;
  }
}

TEST(Elementary, FloatsOfRandomWordsLieEvenlyBetweenNothingAndOne) {
  EXPECT_EQ(unitFloat(0), 0x1p-24F);
  EXPECT_EQ(unitFloat(0xffffffffU), 1.0F - 0x1p-24F);
  for (std::uint32_t n = 0; n < 100000; ++n) {
    const std::uint32_t word = n * 42949U + (n << 8U);
    ASSERT_EQ(unitFloat(word), unitReal(word & ~0x1ffU) + (0.5 - 0x1p-10) * 0x1p-23) << word;
  }
}

// FNV-1a over the bits of many values: one number for all compilers and machines. The same functions in a
// kernel are compared with the host by the tests of all decks on devices.
TEST(Elementary, TheBitsAreThoseOfEveryCompiler) {
  std::uint64_t hash = 14695981039346656037U;
  const auto take = [&](double value) {
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((bits >> shift) & 0xff)) * 1099511628211U;
  };
  for (int n = -4000; n <= 4000; ++n) {
    take(plainExp(0.171 * n));
    take(plainLog(4001.0 + n));
    take(plainSineCosine(0.0371 * n).sine);
    take(plainSineCosine(0.0371 * n).cosine);
  }
  EXPECT_EQ(hash, 17932609381506593114U);
  for (int n = -4000; n <= 4000; ++n) {
    take(plainLog(static_cast<float>(4001 + n)));
    take(plainSineCosine(0.0371F * static_cast<float>(n)).sine);
    take(plainSineCosine(0.0371F * static_cast<float>(n)).cosine);
  }
  EXPECT_EQ(hash, 12063298231430223870U);
}

}  // namespace
}  // namespace tessera::test
