#include "scheduler/device/moves/region_table.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "datawarehouse/moves/condition_values.hpp"
#include "grid/refine.hpp"
#include "tests/scheduler/device/plain_moves.hpp"
#include "tests/scheduler/device/region_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::ElementsAre;

constexpr std::size_t kBytes = 1 << 20;

/// Draws moves and carries each out three times in memory that looks the same: index by index, which is
/// right; as an operation on the host; and as a part of a RegionList.
class Thrice {
 public:
  Thrice(std::uint64_t seed, std::byte* to, const std::byte* from)
      : random_(seed), to_(to), from_(from), hostFrom_(kBytes), hostTo_(kBytes), ranTo_(kBytes) {
    for (std::size_t n = 0; n < kBytes; n += 4) {
      // A float of 1 to 2, and two of them a small double: all arithmetic stays finite.
      const auto word = static_cast<std::uint32_t>(0x3F800000U | (random_() & 0x7FFFFFU));
      std::memcpy(hostFrom_.data() + n, &word, 4);
      std::memcpy(hostTo_.data() + n, &word, 4);
    }
    begin_ = ranTo_ = hostTo_;
  }

  /// One operation of a random kind in the row at hand; `onHost`: whether its row will be launched.
  void add(bool onHost) {
    switch (below(6)) {
      case 0:
        return addCopy(onHost);
      case 1:
        return addPack(onHost);
      case 2:
        return addUnpack(onHost);
      case 3:
        return addProlong(onHost);
      case 4:
        return addAverage(onHost);
      default:
        return addCondition(onHost);
    }
  }

  RegionList list;
  std::vector<double> launchValues;
  const std::vector<std::byte>& from() const { return hostFrom_; }
  const std::vector<std::byte>& before() const { return begin_; }
  const std::vector<std::byte>& after() const { return hostTo_; }
  /// What operations of the host have left.
  const std::vector<std::byte>& ran() const { return ranTo_; }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

 private:
  struct Window {
    Layout layout;
    std::size_t offset = 0;
  };

  Box box(std::int64_t most) {
    const Index lo{below(20) - 10, below(20) - 10, below(20) - 10};
    return {lo, lo + Index{1 + below(most), 1 + below(most), 1 + below(most)}};
  }
  /// A window around `inside` at a place of its own in `to`, or anywhere in `from`.
  Window window(const Box& inside, std::int64_t elementBytes, bool ofTo) {
    const Box around = grow(inside, {{below(3), below(3), below(3)}, {below(3), below(3), below(3)}});
    Window window{Layout(around, false, false), 0};
    window.layout.strideJ += below(3);
    window.layout.strideK = window.layout.strideJ * around.extent().j + below(3);
    const auto bytes = static_cast<std::size_t>(window.layout.strideK * around.extent().k * elementBytes);
    if (ofTo) {
      window.offset = used_;
      used_ += bytes + 4 * static_cast<std::size_t>(below(2));
      used_ = elementBytes % 8 == 0 ? (used_ + 7) / 8 * 8 : used_;
      EXPECT_LE(used_, kBytes) << "the test draws too much";
    } else {
      window.offset = static_cast<std::size_t>(below(static_cast<std::int64_t>(kBytes - bytes) / 8)) * 8;
    }
    return window;
  }
  std::int64_t elementBytes() {
    return std::array<std::int64_t, 5>{8, 4, 12, 24, 16}[static_cast<std::size_t>(below(5))];
  }
  void alignTo() { used_ = (used_ + 7) / 8 * 8; }
  Index anyShift() { return {below(9) - 4, below(9) - 4, below(9) - 4}; }

  /// The operation on the host and in the list; whether the row is launched.
  void add(const RegionOp& op, std::size_t to, std::size_t from, bool onHost) {
    list.add(op, to_ + to, from_ + from, &RegionCounts::copied);
    if (onHost) runRegion(op, ranTo_.data() + to, hostFrom_.data() + from);
  }
  void addCopy(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Index by = anyShift();
    const Window to = window(region, bytes, true);
    const Window from = window(shift(region, Index{} - by), bytes, false);
    add(copyOp(to.layout, from.layout, region, by, bytes), to.offset, from.offset, onHost);
    if (!onHost) return;
    test::plainCopy(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + from.offset, from.layout,
                    region, by, bytes);
  }
  void addPack(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Window from = window(region, bytes, false);
    const std::size_t at = used_;
    const Layout packed(region, false, false);
    used_ += static_cast<std::size_t>(region.volume() * bytes);
    add(copyOp(packed, from.layout, region, {}, bytes), at, from.offset, onHost);
    if (!onHost) return;
    test::plainCopy(hostTo_.data() + at, packed, hostFrom_.data() + from.offset, from.layout, region, {},
                    bytes);
  }
  void addUnpack(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Window to = window(region, bytes, true);
    const Layout packed(region, false, false);
    const auto size = static_cast<std::size_t>(region.volume() * bytes);
    const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(kBytes - size) / 4)) * 4;
    add(copyOp(to.layout, packed, region, {}, bytes), to.offset, at, onHost);
    if (!onHost) return;
    test::plainCopy(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + at, packed, region, {}, bytes);
  }
  void addProlong(bool onHost) {
    LabelInfo info;
    info.type = anyType();
    const Box region = box(9);
    const Index by = anyShift();
    const Extent ratio{1 + below(4), 1 + below(4), 1 + below(4)};
    alignTo();
    const Window to = window(region, info.type.bytes(), true);
    const Window from = window(coarsen(shift(region, Index{} - by), ratio), info.type.bytes(), false);
    add(regionOp({MoveKind::Prolong, region, by, ratio}, to.layout, from.layout, info, levelOf(6)), to.offset,
        from.offset, onHost);
    if (!onHost) return;
    test::plainProlong(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + from.offset, from.layout,
                       region, by, ratio, info.type.bytes());
  }
  /// A kind that no read asks for: it is known to the operation alone.
  void addAverage(bool onHost) {
    LabelInfo info;
    info.type = anyType();
    const Box region = box(4);
    const Index by = anyShift();
    const Extent ratio{1 + below(4), 1 + below(4), 1 + below(4)};
    alignTo();
    const Window to = window(region, info.type.bytes(), true);
    const Window from = window(refine(shift(region, Index{} - by), ratio), info.type.bytes(), false);
    add(regionOp({MoveKind::Average, region, by, ratio}, to.layout, from.layout, info, levelOf(6)), to.offset,
        from.offset, onHost);
    if (!onHost) return;
    test::plainAverage(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + from.offset, from.layout,
                       region, by, ratio, info.type);
  }
  ElementType anyType() {
    constexpr std::array kScalars{Scalar::Float64, Scalar::Float32, Scalar::Int32, Scalar::Int64};
    return {kScalars[static_cast<std::size_t>(below(4))], static_cast<std::int32_t>(1 + below(3))};
  }
  void addCondition(bool onHost) {
    constexpr std::array kCenterings{Cell, Node, FaceX, FaceY, FaceZ};
    constexpr std::array kKinds{BoundaryKind::Dirichlet, BoundaryKind::Neumann, BoundaryKind::Outflow};
    LabelInfo info;
    info.type = anyType();
    info.centering = kCenterings[static_cast<std::size_t>(below(5))];
    const auto side = static_cast<int>(below(6));
    const bool varies = below(2) == 0;
    info.boundary.sides[static_cast<std::size_t>(side)] =
        SideCondition{kKinds[static_cast<std::size_t>(below(3))],
                      varies ? Expression::parse("x + 2*y - z*t") : Expression::constant(0.25)};
    const Level level = levelOf(6);
    const Box domain = level.domainOf(info.centering);
    const int axis = side / 2;
    const std::int64_t layers = 1 + below(4);
    Box window = grow(domain, uniformHalo(layers));
    Box region = window;
    for (int d = 0; d < kAxes; ++d) {
      region.lo[d] += below(4);
      region.hi[d] -= below(4);
    }
    if (side % 2 == 0) {
      region.lo[axis] = window.lo[axis];
      region.hi[axis] = domain.lo[axis];
    } else {
      region.lo[axis] = domain.hi[axis];
      region.hi[axis] = window.hi[axis];
    }
    alignTo();
    const Window at = this->window(window, info.type.bytes(), true);
    const double time = 0.5;
    RegionValues values;
    values.count = varies ? RegionValues::Count::OneEachIndex : RegionValues::Count::One;
    std::vector<double> given(static_cast<std::size_t>(region.volume()));
    conditionValues(info, level, side, region, time, given);
    const std::vector<double> ofEach = given;
    if (!varies) given.resize(1);
    if (below(2) == 0) {
      values.first = list.addValues(given);
    } else {
      values.of = RegionValues::Of::Launch;
      values.first = kFirstOfLaunch + std::ssize(launchValues);
      launchValues.insert(launchValues.end(), given.begin(), given.end());
    }
    const RegionOp op =
        regionOp({MoveKind::Condition, region, {}, {1, 1, 1}, side}, at.layout, at.layout, info, level);
    list.add(op, to_ + at.offset, to_ + at.offset, &RegionCounts::conditions, values);
    if (!onHost) return;
    ConditionValue value(info, level, side, time);
    runCondition(op, ranTo_.data() + at.offset, region.lo, value);
    test::plainCondition(hostTo_.data() + at.offset, at.layout, info, level, side, region, ofEach);
  }
  static Level levelOf(std::int64_t n) {
    Geometry geometry;
    geometry.cells = {n, n, n};
    geometry.upper = {1.0, 0.7, 3.0};
    const Box domain{{0, 0, 0}, {n, n, n}};
    return {0, geometry, domain, {1, 1, 1}, {{0, 0, domain}}};
  }

 public:
  static constexpr std::int64_t kFirstOfLaunch = 1000;

 private:
  std::mt19937_64 random_;
  std::byte* to_;
  const std::byte* from_;
  std::vector<std::byte> hostFrom_;
  std::vector<std::byte> hostTo_;
  std::vector<std::byte> ranTo_;
  std::vector<std::byte> begin_;
  std::size_t used_ = 0;
};

class RegionClaims : public test::RegionsOnEachDevice {};

TEST_P(RegionClaims, RandomMovesHaveTheSameBytesOnTheHostAndThere) {
  OnDevice<std::byte> to(*device_, kBytes);
  OnDevice<std::byte> from(*device_, kBytes);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("replay: seed " + std::to_string(seed));
    Thrice thrice(seed, to.data(), from.data());
    std::vector<std::int32_t> rows;
    for (std::int32_t row = 0; row < 12; ++row) {
      thrice.list.beginRow();
      const bool chosen = thrice.below(3) > 0;
      if (chosen) rows.push_back(row);
      // Some rows have more operations than a thread block takes.
      for (std::int64_t n = thrice.below(row % 6 == 5 ? 40 : 5); n > 0; --n) thrice.add(chosen);
    }
    OnDevice<double> values(*device_, thrice.launchValues.size() + 1, DeviceSpace::PinnedHost);
    std::copy(thrice.launchValues.begin(), thrice.launchValues.end(), values.data());
    to.set(stream_, thrice.before());
    from.set(stream_, thrice.from());

    RegionTable table = upload(thrice.list);
    table.launch(stream_, "Test::regions", rows, {values.data(), Thrice::kFirstOfLaunch});

    ASSERT_EQ(thrice.ran(), thrice.after());
    ASSERT_EQ(to.get(stream_), thrice.after());
  }
}

TEST_P(RegionClaims, RowsWithManyGapsAreLaunchedAllTheSame) {
  constexpr std::int32_t kRows = 3000;
  OnDevice<double> from(*device_, kRows);
  OnDevice<double> to(*device_, kRows);
  std::vector<double> numbers(kRows);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  from.set(stream_, numbers);
  to.set(stream_, std::vector<double>(kRows, 0.0));
  const Box one{{0, 0, 0}, {1, 1, 1}};
  RegionList list;
  std::vector<std::int32_t> rows;
  for (std::int32_t row = 0; row < kRows; ++row) {
    list.beginRow();
    list.add(copyOp(Layout(one, false, false), Layout(one, false, false), one, {}, 8),
             reinterpret_cast<std::byte*>(to.data() + row), reinterpret_cast<std::byte*>(from.data() + row),
             &RegionCounts::packed);
    if (row % 3 != 1) rows.push_back(row);
  }

  RegionTable table = upload(list);
  const RegionCounts counts = table.launch(stream_, "Test::regions", rows);
  const std::vector<double> got = to.get(stream_);

  EXPECT_EQ(counts.packed, 8 * 2000);
  EXPECT_EQ(counts.launches, 3) << "1,001 runs of rows, at most 480 a launch";
  for (std::int32_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(got[static_cast<std::size_t>(row)], row % 3 != 1 ? row + 1.0 : 0.0) << row;
  }
}

TEST_P(RegionClaims, AnotherStreamComesAfterTheUpload) {
  const DeviceStream other = device_->makeStream();
  OnDevice<double> data(*device_, 2);
  data.set(stream_, {5.0, 0.0});
  const Box one{{0, 0, 0}, {1, 1, 1}};
  RegionList list;
  list.beginRow();
  list.add(copyOp(Layout(one, false, false), Layout(one, false, false), one, {}, 8),
           reinterpret_cast<std::byte*>(data.data() + 1), reinterpret_cast<std::byte*>(data.data()),
           &RegionCounts::packed);

  RegionTable table = upload(list);
  const std::int32_t row = 0;
  table.launch(other, "Test::regions", {&row, 1});

  EXPECT_THAT(data.get(other), ElementsAre(5.0, 5.0));
}

TEST_P(RegionClaims, NothingToDoIsNoLaunch) {
  RegionList list;
  list.beginRow();
  list.add(copyOp({}, {}, Box{}, {}, 8), nullptr, nullptr, &RegionCounts::unpacked);
  RegionTable table = upload(list);
  const std::int32_t row = 0;

  EXPECT_EQ(table.launch(stream_, "Test::regions", {&row, 1}).launches, 0);
  EXPECT_EQ(table.bytes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RegionClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
