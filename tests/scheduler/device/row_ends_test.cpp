#include <gtest/gtest.h>

#include "datawarehouse/moves/aligned_layout.hpp"
#include "tests/scheduler/device/region_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;

/// A patch of 8 x 5 x 3 cells with a halo, and one window that holds what comes before its rows and after.
struct Case {
  explicit Case(std::int64_t width)
      : halo(width), aligned(alignRows(Layout(window(), false, false), cells)) {}
  Box window() const { return {{-halo, 0, 0}, {8 + halo, 5, 3}}; }
  Box begins() const { return {{-halo, 0, 0}, {0, 5, 3}}; }
  Box ends() const { return {{8, 0, 0}, {8 + halo, 5, 3}}; }

  Box cells{{0, 0, 0}, {8, 5, 3}};
  std::int64_t halo = 1;
  AlignedLayout aligned;
};

/// Each index has a number of its own.
double numberAt(std::int64_t i, std::int64_t j, std::int64_t k) {
  return static_cast<double>(1000 * i + 10 * j + k) + 0.5;
}

class RowEndsClaims : public test::RegionsOnEachDevice {
 protected:
  /// Begins of rows are copies of the last cells of the neighbour, ends of its first ones: the patch is
  /// periodic.
  static RegionList::RowEnds beginsOf(const Case& c, const std::byte* from) {
    return {from, &c.aligned.layout, c.begins(), {-8, 0, 0}};
  }
  static RegionList::RowEnds endsOf(const Case& c, const std::byte* from) {
    return {from, &c.aligned.layout, c.ends(), {8, 0, 0}};
  }
};

TEST_P(RowEndsClaims, BothEndsOfEachRowGetWhatTwoCopiesWouldGiveThem) {
  for (const std::int64_t halo : {1, 2}) {
    SCOPED_TRACE(halo);
    const Case c(halo);
    const Layout& layout = c.aligned.layout;
    const auto elements = static_cast<std::size_t>(c.aligned.elements);
    OnDevice<double> data(*device_, elements);
    std::vector<double> before(elements, -1.0);
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return static_cast<std::size_t>(c.aligned.lead + layout.at({i, j, k}));
    };
    for (std::int64_t k = 0; k < 3; ++k) {
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t i = 0; i < 8; ++i) before[at(i, j, k)] = numberAt(i, j, k);
      }
    }
    data.set(stream_, before);
    auto* base = reinterpret_cast<std::byte*>(data.data() + c.aligned.lead);
    RegionList list;
    list.beginRow();
    ASSERT_TRUE(list.copyRowEnds(base, layout, beginsOf(c, base), endsOf(c, base)));
    RegionTable table = upload(list);
    const std::int32_t row = 0;

    const RegionCounts counts = table.launch(stream_, "Test::ends", {&row, 1});
    const std::vector<double> after = data.get(stream_);

    EXPECT_EQ(counts.copied, 2 * halo * 5 * 3 * 8);
    for (std::int64_t k = 0; k < 3; ++k) {
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t i = -halo; i < 8 + halo; ++i) {
          EXPECT_EQ(after[at(i, j, k)], numberAt((i + 8) % 8, j, k)) << i << ' ' << j << ' ' << k;
        }
      }
    }
  }
}

TEST_P(RowEndsClaims, AreLeftToCopiesWhereOthersLieInTheirSectors) {
  const Case c(1);
  OnDevice<double> data(*device_, static_cast<std::size_t>(c.aligned.elements) + 4);
  auto* base = reinterpret_cast<std::byte*>(data.data() + c.aligned.lead);
  RegionList list;
  list.beginRow();

  const auto refused = [&](const Layout& layout, std::byte* to, const RegionList::RowEnds& begins,
                           const RegionList::RowEnds& ends) {
    return !list.copyRowEnds(to, layout, begins, ends);
  };
  Layout wide = c.aligned.layout;
  wide.window.hi.i += 1;  // an index of the window behind the end
  EXPECT_TRUE(refused(wide, base, beginsOf(c, base), endsOf(c, base)));
  EXPECT_TRUE(refused(c.aligned.layout, base + 8, beginsOf(c, base), endsOf(c, base))) << "between sectors";
  RegionList::RowEnds fewer = endsOf(c, base);
  fewer.region.hi.j = 4;
  EXPECT_TRUE(refused(c.aligned.layout, base, beginsOf(c, base), fewer)) << "not of the same rows";
  Layout odd = c.aligned.layout;
  odd.strideJ += 2;
  EXPECT_TRUE(refused(odd, base, beginsOf(c, base), endsOf(c, base)));
  const Case three(3);
  EXPECT_TRUE(refused(three.aligned.layout, base, beginsOf(three, base), endsOf(three, base)))
      << "ends of three elements and begins of three are more than a sector";
  EXPECT_TRUE(list.isEmpty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, RowEndsClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
