#include "core/philox.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace tessera::test {
namespace {

// The answers that the authors' library Random123 gives for philox4x32 with 10 rounds, and with 7.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(philox<7>({0, 0, 0, 0}, {0, 0}), (PhiloxWords{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(philox<7>({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (PhiloxWords{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
}

TEST(Philox, RealsLieBetweenZeroAndOne) {
  EXPECT_EQ(unitReal(0), 0x1p-33);
  EXPECT_EQ(unitReal(0xffffffff), 1.0 - 0x1p-33);
}

TEST(Philox, RealsOfNeighbouringCountersHaveTheMeanAndVarianceOfTheUniformLaw) {
  constexpr std::uint32_t kBlocks = 20000;
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint32_t n = 0; n < kBlocks; ++n) {
    const PhiloxWords words = philox({n, 0, 0, 0}, {1, 2});
    for (const std::uint32_t word : {words.x, words.y, words.z, words.w}) {
      const double u = unitReal(word) - 0.5;
      sum += u;
      squares += u * u;
    }
  }
  const double count = 4.0 * kBlocks;
  EXPECT_NEAR(sum / count, 0.0, 5.0 * 0.2887 / 282.8);  // five standard deviations
  EXPECT_NEAR(squares / count, 1.0 / 12, 5.0 * 0.0745 / 282.8);
}

}  // namespace
}  // namespace tessera::test
