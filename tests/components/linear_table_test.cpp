#include "components/tables/linear_table.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/table_view.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::filesystem::path fileWith(const std::string& text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / (std::string(test->name()) + ".txt");
  std::ofstream(file) << text;
  return file;
}

TEST(LinearTables, AreExactForAStraightLineAndHoldBeyondTheEnds) {
  const SampledFunction line = readSampledFunction(fileWith("# x  2 x + 1\n-1 -1\n-0.5 0\n\n0 1\n0.5 2\n"));
  ASSERT_EQ(line.values.size(), 4U);
  const LinearTable function(TableView(line.values.data(), 4), line.axis);

  for (const double x : {-1.0, -0.75, -0.5, -0.125, 0.0, 0.25, 0.5}) EXPECT_EQ(function(x), 2.0 * x + 1.0);
  EXPECT_EQ(function(-7.0), -1.0);
  EXPECT_EQ(function(7.0), 2.0);
  EXPECT_TRUE(std::isnan(function(std::numeric_limits<double>::quiet_NaN())));
}

std::string faultOf(const std::string& text) {
  try {
    readSampledFunction(fileWith(text));
  } catch (const InputError& error) {
    return error.message();
  }
  return "nothing is wrong";
}

TEST(LinearTables, WhatIsNoTableIsASentenceWithItsLine) {
  EXPECT_THAT(faultOf("0 1\n1 b\n"), AllOf(HasSubstr("a line is not \"x value\""), HasSubstr(".txt:2")));
  EXPECT_THAT(faultOf("0 1\n1 2 3\n"), HasSubstr("a line is not \"x value\""));
  EXPECT_THAT(faultOf("0 1\n0 2\n"), HasSubstr("do not ascend"));
  EXPECT_THAT(faultOf("0 1\n1 2\n3 4\n"), AllOf(HasSubstr("not at equal distances"), HasSubstr(".txt:3")));
  EXPECT_THAT(faultOf("0 1\n"), HasSubstr("fewer than two places"));
  EXPECT_THROW(readSampledFunction("no/such/file"), InputError);
}

}  // namespace
}  // namespace tessera
