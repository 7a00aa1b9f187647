#include "datawarehouse/checked/finite_probe.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::detail {
namespace {

template <class T>
bool finite(const std::vector<T>& numbers) {
  FiniteProbe<T> probe;
  probe.look(numbers.data(), static_cast<std::int64_t>(numbers.size()));
  return !probe.doubtful();
}

template <class T>
class FiniteProbeTest : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(FiniteProbeTest, Types);

TYPED_TEST(FiniteProbeTest, FindsOneBadNumberAtAnyPlaceOfARowOfAnyLength) {
  using Limits = std::numeric_limits<TypeParam>;
  for (std::size_t length = 1; length <= 21; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      for (const TypeParam bad :
           {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        std::vector<TypeParam> row(length, TypeParam{1});
        row[at] = bad;
        EXPECT_FALSE(finite(row)) << bad << " at " << at << " of " << length;
      }
    }
  }
}

TYPED_TEST(FiniteProbeTest, HasNoDoubtAboutNumbersFarBelowTheLargest) {
  using Limits = std::numeric_limits<TypeParam>;
  for (std::size_t length = 0; length <= 21; ++length) {
    for (const TypeParam good :
         {Limits::max() / 32, Limits::lowest() / 32, Limits::min(), Limits::denorm_min(), TypeParam{-0.0}}) {
      EXPECT_TRUE(finite(std::vector<TypeParam>(length, good))) << good << ", " << length << " times";
    }
  }
}

TYPED_TEST(FiniteProbeTest, DoubtStaysWhateverComesLater) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> row{Limits::infinity(),  1, 1, 1, 1, 1, 1, -Limits::infinity(), 1, 1, 1, 1,
                                   -Limits::infinity(), 2, 2, 2, 2, 2, 2, Limits::infinity()};
  EXPECT_FALSE(finite(row));
}

}  // namespace
}  // namespace tessera::detail
