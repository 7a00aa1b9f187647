#include "datawarehouse/packed_memory.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "datawarehouse/field.hpp"

namespace tessera {
namespace {

/// An L of 96 x 96 cells whose arm is 64 wide, 32 layers deep.
class PackedMemoryTest : public ::testing::Test {
 protected:
  PackedMemoryTest() {
    const std::vector<Box> parts{{{0, 0, 0}, {96, 64, 32}}, {{0, 64, 0}, {64, 96, 32}}};
    packed_ = packWindow({{0, 0, 0}, {96, 96, 32}}, parts, 8, std::int64_t{96} * 96 * 32 * 8);
  }

  template <class Visit>
  void forEachIndex(Visit&& visit) const {
    for (std::int64_t k = 0; k < 32; ++k) {
      for (std::int64_t j = 0; j < 96; ++j) {
        for (std::int64_t i = 0; i < (j < 64 ? 96 : 64); ++i) visit(Index{i, j, k});
      }
    }
  }

  std::optional<PackedWindow> packed_;
};

TEST_F(PackedMemoryTest, KeepsTheValueOfEachIndexAndTakesTheBytesThatWerePlanned) {
  ASSERT_TRUE(packed_.has_value());
  ASSERT_TRUE(PageFile::works()) << "pages of 4,096 bytes are needed";
  PageFile file;
  EXPECT_EQ(file.add(3), 0);
  const PackedMemory memory(*packed_, 8, file, file.add(packed_->memoryPages));
  EXPECT_EQ(file.residentBytes(), 0) << "nothing has been touched yet";
  const Field<std::int64_t> field(reinterpret_cast<std::int64_t*>(memory.data()),
                                  Layout(*packed_, false, false));

  forEachIndex([&](Index x) { field(x) = x.i + 100 * x.j + 10'000 * x.k; });

  forEachIndex([&](Index x) { ASSERT_EQ(field(x), x.i + 100 * x.j + 10'000 * x.k); });
  EXPECT_EQ(file.residentBytes(), packed_->bytes);
  EXPECT_LT(static_cast<double>(packed_->bytes), 1.05 * 8 * 32 * (96 * 64 + 64 * 32));
}

TEST_F(PackedMemoryTest, TwoWindowsOfOneFileDoNotMeetAndOutliveIt) {
  ASSERT_TRUE(packed_.has_value());
  ASSERT_TRUE(PageFile::works()) << "pages of 4,096 bytes are needed";
  PackedMemory one;
  PackedMemory two;
  {
    PageFile file;
    one = PackedMemory(*packed_, 8, file, file.add(packed_->memoryPages));
    two = PackedMemory(*packed_, 8, file, file.add(packed_->memoryPages));
  }
  const Layout layout(*packed_, false, false);
  const Field<std::int64_t> first(reinterpret_cast<std::int64_t*>(one.data()), layout);
  const Field<std::int64_t> second(reinterpret_cast<std::int64_t*>(two.data()), layout);
  forEachIndex([&](Index x) { first(x) = 1; });
  forEachIndex([&](Index x) { second(x) = 2; });
  forEachIndex([&](Index x) { ASSERT_EQ(first(x), 1); });
}

}  // namespace
}  // namespace tessera
