#include "scheduler/device/moves/region_batch.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "datawarehouse/moves/boundary_fill.hpp"
#include "datawarehouse/moves/coarse_fill.hpp"
#include "datawarehouse/moves/region_copy.hpp"
#include "grid/refine.hpp"
#include "tests/scheduler/device/region_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::ElementsAre;

constexpr std::size_t kBytes = 1 << 20;

/// Draws operations and carries each out twice: on the host at once, and as a part of a RegionList on memory
/// that looks the same.
class Twice {
 public:
  Twice(std::uint64_t seed, std::byte* to, const std::byte* from)
      : random_(seed), to_(to), from_(from), hostFrom_(kBytes), hostTo_(kBytes) {
    for (std::size_t n = 0; n < kBytes; n += 4) {
      // A float of 1 to 2, and two of them a small double: all arithmetic stays finite.
      const auto word = static_cast<std::uint32_t>(0x3F800000U | (random_() & 0x7FFFFFU));
      std::memcpy(hostFrom_.data() + n, &word, 4);
      std::memcpy(hostTo_.data() + n, &word, 4);
    }
    begin_ = hostTo_;
  }

  /// One operation of a random kind in the row at hand; `onHost`: whether its row will be launched.
  void add(bool onHost) {
    switch (below(5)) {
      case 0:
        return addCopy(onHost);
      case 1:
        return addPack(onHost);
      case 2:
        return addUnpack(onHost);
      case 3:
        return addProlong(onHost);
      default:
        return addCondition(onHost);
    }
  }

  RegionList list;
  std::vector<double> launchValues;
  const std::vector<std::byte>& from() const { return hostFrom_; }
  const std::vector<std::byte>& before() const { return begin_; }
  const std::vector<std::byte>& after() const { return hostTo_; }
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

  void addCopy(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Index by = anyShift();
    const Window to = window(region, bytes, true);
    const Window from = window(shift(region, Index{} - by), bytes, false);
    list.copy(to_ + to.offset, to.layout, from_ + from.offset, from.layout, region, by, bytes);
    if (!onHost) return;
    copyRegion(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + from.offset, from.layout, region, by,
               bytes);
  }
  void addPack(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Window from = window(region, bytes, false);
    const std::size_t at = used_;
    const auto size = static_cast<std::size_t>(region.volume() * bytes);
    used_ += size;
    list.pack(to_ + at, from_ + from.offset, from.layout, region, bytes);
    if (onHost)
      packRegion(std::span(hostTo_).subspan(at, size), hostFrom_.data() + from.offset, from.layout, region,
                 bytes);
  }
  void addUnpack(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Window to = window(region, bytes, true);
    const auto size = static_cast<std::size_t>(region.volume() * bytes);
    const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(kBytes - size) / 4)) * 4;
    list.unpack(to_ + to.offset, to.layout, region, from_ + at, bytes);
    if (onHost)
      unpackRegion(hostTo_.data() + to.offset, to.layout, region, std::span(hostFrom_).subspan(at, size),
                   bytes);
  }
  void addProlong(bool onHost) {
    const std::int64_t bytes = elementBytes();
    const Box region = box(9);
    const Index by = anyShift();
    const Extent ratio{1 + below(4), 1 + below(4), 1 + below(4)};
    const Window to = window(region, bytes, true);
    const Window from = window(coarsen(shift(region, Index{} - by), ratio), bytes, false);
    list.prolong(to_ + to.offset, to.layout, from_ + from.offset, from.layout, region, by, ratio, bytes);
    if (!onHost) return;
    fillFromCoarser(hostTo_.data() + to.offset, to.layout, hostFrom_.data() + from.offset, from.layout,
                    region, by, ratio, bytes);
  }
  void addCondition(bool onHost) {
    constexpr std::array kScalars{Scalar::Float64, Scalar::Float32, Scalar::Int32, Scalar::Int64};
    constexpr std::array kCenterings{Cell, Node, FaceX, FaceY, FaceZ};
    constexpr std::array kKinds{BoundaryKind::Dirichlet, BoundaryKind::Neumann, BoundaryKind::Outflow};
    LabelInfo info;
    info.type = {kScalars[static_cast<std::size_t>(below(4))], static_cast<std::int32_t>(1 + below(3))};
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
    if (!varies) given.resize(1);
    if (below(2) == 0) {
      values.first = list.addValues(given);
    } else {
      values.of = RegionValues::Of::Launch;
      values.first = kFirstOfLaunch + std::ssize(launchValues);
      launchValues.insert(launchValues.end(), given.begin(), given.end());
    }
    list.condition(to_ + at.offset, at.layout, info, level, side, region, values);
    if (onHost) fillBoundary(hostTo_.data() + at.offset, at.layout, info, level, side, region, time);
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
  std::vector<std::byte> begin_;
  std::size_t used_ = 0;
};

class RegionClaims : public test::RegionsOnEachDevice {};

TEST_P(RegionClaims, RandomRegionsHaveTheBytesOfTheHostsFunctions) {
  OnDevice<std::byte> to(*device_, kBytes);
  OnDevice<std::byte> from(*device_, kBytes);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("replay: seed " + std::to_string(seed));
    Twice twice(seed, to.data(), from.data());
    std::vector<std::int32_t> rows;
    for (std::int32_t row = 0; row < 12; ++row) {
      twice.list.beginRow();
      const bool chosen = twice.below(3) > 0;
      if (chosen) rows.push_back(row);
      // Some rows have more operations than a thread block takes.
      for (std::int64_t n = twice.below(row % 6 == 5 ? 40 : 5); n > 0; --n) twice.add(chosen);
    }
    OnDevice<double> values(*device_, twice.launchValues.size() + 1, DeviceSpace::PinnedHost);
    std::copy(twice.launchValues.begin(), twice.launchValues.end(), values.data());
    to.set(stream_, twice.before());
    from.set(stream_, twice.from());

    RegionTable table = upload(twice.list);
    table.launch(stream_, "Test::regions", rows, {values.data(), Twice::kFirstOfLaunch});

    ASSERT_EQ(to.get(stream_), twice.after());
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
    list.pack(reinterpret_cast<std::byte*>(to.data() + row), reinterpret_cast<std::byte*>(from.data() + row),
              Layout(one, false, false), one, 8);
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
  list.pack(reinterpret_cast<std::byte*>(data.data() + 1), reinterpret_cast<std::byte*>(data.data()),
            Layout(one, false, false), one, 8);

  RegionTable table = upload(list);
  const std::int32_t row = 0;
  table.launch(other, "Test::regions", {&row, 1});

  EXPECT_THAT(data.get(other), ElementsAre(5.0, 5.0));
}

TEST_P(RegionClaims, NothingToDoIsNoLaunch) {
  RegionList list;
  list.beginRow();
  list.unpack(nullptr, {}, Box{}, nullptr, 8);
  RegionTable table = upload(list);
  const std::int32_t row = 0;

  EXPECT_EQ(table.launch(stream_, "Test::regions", {&row, 1}).launches, 0);
  EXPECT_EQ(table.bytes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RegionClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
