// A run whose time goes into regrids says so.
#include "tools/simulation/regrid/regrid_storm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RegridStorm, IsSaidOnceWhereRegridsTakeMoreThanHalfOfTheTime) {
  RegridStorm storm;
  EXPECT_EQ(storm.warning(8, 5.0, 10.0, 4), "");
  EXPECT_THAT(storm.warning(9, 6.5, 12.0, 4), AllOf(HasSubstr("9 regrids have taken 6.5 of 12 s"),
                                                    HasSubstr("amr.interval longer than 4 steps")));
  EXPECT_EQ(storm.warning(10, 9.0, 12.0, 4), "");
}

TEST(RegridStorm, TheFirstRegridsSayNothing) {
  RegridStorm storm;
  EXPECT_EQ(storm.warning(RegridStorm::kFewest - 1, 9.0, 10.0, 1), "");
  EXPECT_NE(storm.warning(RegridStorm::kFewest, 9.0, 10.0, 1), "");
}

}  // namespace
}  // namespace tessera::test
