#include "core/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ExactSum, KeepsASmallTermBesideHugeOnesThatCancel) {
  ExactSum s;
  for (const double x : {1e300, 1.0, -1e300, std::ldexp(1.0, -1074)}) s.add(x);
  EXPECT_EQ(s.value(), 1.0);
  s.add(-1.0);
  EXPECT_EQ(s.value(), std::ldexp(1.0, -1074));
}

TEST(ExactSum, RoundsOnceToNearestEven) {
  ExactSum tie;
  tie.add(1.0);
  tie.add(std::ldexp(1.0, -53));
  EXPECT_EQ(tie.value(), 1.0);
  tie.add(std::ldexp(1.0, -300));
  EXPECT_EQ(tie.value(), 1.0 + std::ldexp(1.0, -52));
}

TEST(ExactSum, AgreesWithLongDoubleOnIntegersAndIsSigned) {
  ExactSum s;
  std::int64_t want = 0;
  for (int n = 1; n <= 100000; ++n) {
    const std::int64_t x = (n % 3 == 0 ? -1 : 1) * static_cast<std::int64_t>(n) * 7919;
    s.add(static_cast<double>(x));
    want += x;
  }
  EXPECT_EQ(s.value(), static_cast<double>(want));
  ExactSum negative;
  negative.add(-0.5);
  negative.add(-0.25);
  EXPECT_EQ(negative.value(), -0.75);
}

TEST(ExactSum, IsTheSameForAnyOrderAndAnySplit) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
    std::uniform_int_distribution<int> exponent(-600, 600);
    std::vector<double> terms(999);
    for (double& x : terms) x = std::ldexp(mantissa(random), exponent(random));
    ExactSum all;
    for (const double x : terms) all.add(x);
    std::shuffle(terms.begin(), terms.end(), random);
    ExactSum left;
    ExactSum right;
    for (std::size_t n = 0; n < terms.size(); ++n) (n % 7 == 0 ? left : right).add(terms[n]);
    left.add(right);
    EXPECT_EQ(left.value(), all.value());
    for (const double x : terms) left.add(-x);
    EXPECT_TRUE(left.isZero());
  }
}

TEST(ExactSum, WordVectorsOfManyRanksMayBeAdded) {
  ExactSum parts[3];
  parts[0].add(0.1);
  parts[1].add(-0.7);
  parts[2].add(1e-20);
  ExactSum total;
  for (ExactSum& part : parts) {
    for (std::size_t n = 0; n < ExactSum::kWords; ++n) total.words()[n] += part.words()[n];
  }
  ExactSum direct;
  for (const double x : {1e-20, 0.1, -0.7}) direct.add(x);
  EXPECT_EQ(total.value(), direct.value());
}

TEST(ExactSum, CountsWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  ExactSum s;
  s.add(inf);
  s.add(1.0);
  EXPECT_EQ(s.value(), inf);
  s.add(-inf);
  EXPECT_TRUE(std::isnan(s.value()));
}

TEST(ExactSum, WordsThatWereNotCarriedAddUpAllTheSame) {
  // 2^30 times 2^32 - 1 in the digit of 2^-1042, beside a digit of -1 above it.
  std::vector<std::int64_t> words(ExactSum::kWords, 0);
  words[1] = ((std::int64_t{1} << 32) - 1) << 30;
  words[2] = -1;
  ExactSum sum;
  sum.add(1.0);
  sum.addWords(words);

  ExactSum right;
  right.add(1.0);
  right.add(std::ldexp(4294967295.0, 30 + 32 - 1074));
  right.add(-std::ldexp(1.0, 64 - 1074));
  EXPECT_TRUE(std::equal(sum.words().begin(), sum.words().end(), right.words().begin()));
}

}  // namespace
}  // namespace tessera
