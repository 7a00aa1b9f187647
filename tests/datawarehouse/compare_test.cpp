#include "datawarehouse/archive/compare.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"
#include "tests/datawarehouse/field_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr CompareTolerance kExact{0.0, 0.0, true};

// Writes the sample with one value of density on level 0 changed.
std::filesystem::path writeChanged(const std::filesystem::path& folder, Index where, double change) {
  const FieldSample sample;
  LoopbackWorld world(1);
  std::filesystem::path path;
  runRanks(world, [&](Transport& transport) {
    const FieldOutput output = sample.output(7);
    const FillPatch good = sample.fill(output);
    FieldWriter writer(transport, {.folder = folder, .precision = FieldPrecision::Float64});
    path = writer
               .write(output,
                      [&](std::size_t l, std::int64_t p, std::size_t f, std::span<double> values) {
                        good(l, p, f, values);
                        const Box& box = output.levels[l].patches[static_cast<std::size_t>(p)];
                        if (l != 0 || f != 0 || !box.contains(where)) return;
                        const Index d = where - box.lo;
                        values[static_cast<std::size_t>(d.j * box.extent().i + d.i)] += change;
                      })
               .path;
  });
  return path;
}

class CompareFields : public ::testing::Test {
 protected:
  TemporaryFolder one_;
  TemporaryFolder two_;
};

TEST_F(CompareFields, OtherPatchLayoutsOfTheSameValuesAreEqualBitByBit) {
  const auto a = FieldReader::open(FieldSample{2}.write(one_.path(), 7, 2).path);
  const auto b = FieldReader::open(FieldSample{3}.write(two_.path(), 7, 3).path);
  const Comparison result = compareFields(a, b, kExact);
  EXPECT_TRUE(result.equal);
  EXPECT_THAT(result.problems, IsEmpty());
  ASSERT_EQ(result.fields.size(), 4u);
  EXPECT_EQ(result.fields[0].field, "density");
  EXPECT_EQ(result.fields[0].compared, 8 * 4 + 8 * 4);
  EXPECT_EQ(result.fields[3].field, "velocity");
  EXPECT_EQ(result.fields[3].compared, 2 * (8 * 4 + 8 * 4));
}

TEST_F(CompareFields, OneChangedCellIsFoundWithBothValues) {
  const double value = FieldSample::value(0, 0, {5, 2, 0}, 0);
  const auto a = FieldReader::open(FieldSample{3}.write(one_.path(), 7).path);
  const auto b = FieldReader::open(writeChanged(two_.path(), {5, 2, 0}, 0.5));
  const Comparison result = compareFields(a, b, kExact);
  EXPECT_FALSE(result.equal);
  const FieldComparison& density = result.fields[0];
  EXPECT_EQ(density.differing, 1);
  EXPECT_EQ(density.maxAbs, 0.5);
  EXPECT_EQ(density.maxRel, 0.5 / (value + 0.5));
  ASSERT_TRUE(density.first.has_value());
  EXPECT_EQ(density.first->level, 0);
  EXPECT_EQ(density.first->index, (Index{5, 2, 0}));
  EXPECT_EQ(density.first->a, value);
  EXPECT_EQ(density.first->b, value + 0.5);
  EXPECT_EQ(result.fields[1].differing, 0);
}

TEST_F(CompareFields, TheToleranceIsAbsolutePlusRelative) {
  const auto a = FieldReader::open(FieldSample{}.write(one_.path(), 7).path);
  const auto b = FieldReader::open(writeChanged(two_.path(), {5, 2, 0}, 0.5));
  const double size = FieldSample::value(0, 0, {5, 2, 0}, 0) + 0.5;
  EXPECT_TRUE(compareFields(a, b, {.abs = 0.5}).equal);
  EXPECT_FALSE(compareFields(a, b, {.abs = 0.49}).equal);
  EXPECT_TRUE(compareFields(a, b, {.rel = 0.51 / size}).equal);
  EXPECT_FALSE(compareFields(a, b, {.rel = 0.49 / size}).equal);
  EXPECT_EQ(compareFields(a, b, {.abs = 0.5}).fields[0].maxAbs, 0.5) << "sizes are reported all the same";
}

TEST_F(CompareFields, ANanOnOneSideIsADifferenceAndOnBothSidesNot) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = FieldReader::open(FieldSample{}.write(one_.path(), 7).path);
  const auto b = FieldReader::open(writeChanged(two_.path(), {5, 2, 0}, nan));
  const Comparison result = compareFields(a, b, {.abs = 1e300});
  EXPECT_FALSE(result.equal);
  EXPECT_TRUE(std::isinf(result.fields[0].maxAbs));
  EXPECT_TRUE(compareFields(b, b, {.abs = 1.0}).equal);
  EXPECT_TRUE(compareFields(b, b, kExact).equal);
}

TEST_F(CompareFields, OtherTimesStepsAndExtentsAreProblems) {
  const auto a = FieldReader::open(FieldSample{}.write(one_.path(), 7).path);
  const auto b = FieldReader::open(FieldSample{}.write(two_.path(), 8).path);
  const Comparison result = compareFields(a, b, {});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.problems,
              ElementsAre(HasSubstr("the step is 7 in the first and 8"), HasSubstr("the time is 1.75")));
}

TEST(CompareCheckpoints, OtherLayoutsAreEqualAndChangesAreNamed) {
  TemporaryFolder one;
  TemporaryFolder two;
  TemporaryFolder three;
  const Sample sample;
  const auto a = CheckpointReader::open(sample.write(one.path(), 10, 1).path);
  const auto b = CheckpointReader::open(sample.write(two.path(), 10, 3).path);
  const auto later = CheckpointReader::open(sample.write(three.path(), 11, 2).path);
  const Comparison same = compareCheckpoints(a, b, kExact);
  EXPECT_TRUE(same.equal);
  EXPECT_EQ(same.fields.size(), 2u);
  const Comparison other = compareCheckpoints(a, later, kExact);
  EXPECT_FALSE(other.equal);
  EXPECT_THAT(other.problems, ElementsAre(HasSubstr("the step is 10"), HasSubstr("'regrids' is 10000000070"),
                                          HasSubstr("'time' is 1 (0x1p+0)")));
  EXPECT_GT(other.fields[0].differing, 0);
}

TEST(CompareCheckpoints, AreasThatOneSideLacksAreNamed) {
  TemporaryFolder one;
  TemporaryFolder two;
  Sample shorter;
  shorter.patches = 3;
  const auto a = CheckpointReader::open(Sample{}.write(one.path(), 10).path);
  const auto b = CheckpointReader::open(shorter.write(two.path(), 10).path);
  const Comparison result = compareCheckpoints(a, b, {});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.problems, ElementsAre("temperature, level 0: [9,0,0]..[11,1,0] is in the first only",
                                           "velocity, level 0: [10,0,0]..[12,1,0] is in the first only"));
}

}  // namespace
}  // namespace tessera::test
