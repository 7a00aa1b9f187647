#include "scheduler/device/memory/device_pager.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "scheduler/tracing/device_timeline.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

/// Pieces are touched next in the order that a test sets.
class Planned final : public UseForecast {
 public:
  explicit Planned(std::size_t pieces) : outlook_(pieces) {}
  Outlook of(std::int32_t piece) override { return outlook_[static_cast<std::size_t>(piece)]; }
  Outlook& operator[](std::int32_t piece) { return outlook_[static_cast<std::size_t>(piece)]; }

 private:
  std::vector<Outlook> outlook_;
};

/// Pieces of one segment each, and of a size that makes two in a row share one.
class DevicePagerClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (IsSkipped()) return;
    device_ = makeDevice();
    stream_ = device_->makeStream();
    swap_ = std::make_unique<DevicePool>(*device_,
                                         DevicePoolOptions{DeviceSpace::PinnedHost, std::int64_t{1} << 30});
    in_ = watch_.add("in", DeviceWork::Copy);
    out_ = watch_.add("out", DeviceWork::Copy);
    page_ = device_->makeAddresses(1, 1)->pieceBytes();
  }
  /// `pieces` of `bytes`, with memory for `segments` of one page.
  void make(int pieces, std::int64_t bytes, std::int64_t segments) {
    pager_ = std::make_unique<DevicePager>(
        *device_, *swap_,
        DevicePagerOptions{
            .limitBytes = segments * page_, .neededBytes = pieces * bytes, .segmentBytes = page_});
    for (int n = 0; n < pieces; ++n) {
      memory_.push_back(static_cast<double*>(pager_->allocate(bytes, "piece")));
    }
    pager_->begin(nullptr, {&watch_, in_, out_});
  }
  /// One launch over one piece: each of its first `count` values becomes scale * value + offset.
  void change(std::int32_t piece, double scale, double offset, int count = 4) {
    touch({{piece, PieceAccess::Change}});
    test::putAffine(*device_, stream_, memory_[static_cast<std::size_t>(piece)], count, scale, offset);
    pager_->close(std::span(&stream_, 1));
  }
  void touch(const std::vector<PieceUse>& uses) {
    pager_->open();
    ASSERT_TRUE(pager_->take(uses, GroupRoom::All));
    pager_->makeResident(std::span(&stream_, 1));
  }
  std::vector<double> valuesOf(std::int32_t piece, std::size_t count = 4) {
    touch({{piece, PieceAccess::Read}});
    std::vector<double> got(count);
    device_->copy(stream_, CopyDirection::DeviceToHost, got.data(), memory_[static_cast<std::size_t>(piece)],
                  static_cast<std::int64_t>(count * sizeof(double)));
    pager_->close(std::span(&stream_, 1));
    device_->synchronize(stream_);
    return got;
  }
  void TearDown() override {
    if (device_ != nullptr) device_->synchronize(stream_);
    pager_.reset();
    swap_.reset();
  }

  std::unique_ptr<DeviceBackend> device_;
  DeviceStream stream_;
  std::unique_ptr<DevicePool> swap_;
  LaunchProfiler watch_{nullptr, nullptr};
  std::int32_t in_ = 0;
  std::int32_t out_ = 0;
  std::int64_t page_ = 0;
  std::unique_ptr<DevicePager> pager_;
  std::vector<double*> memory_;
};

TEST_P(DevicePagerClaims, NewMemoryIsNaN) {
  make(1, page_, 1);

  EXPECT_TRUE(std::isnan(valuesOf(0).front()));
}

TEST_P(DevicePagerClaims, WhatLeftTheDeviceComesBackAsItWas) {
  make(3, page_, 1);
  for (std::int32_t piece = 0; piece < 3; ++piece) change(piece, 0.0, 7.0 + piece);

  for (std::int32_t piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(valuesOf(piece), std::vector<double>(4, 7.0 + piece)) << "piece " << piece;
  }
  EXPECT_EQ(pager_->counts().evictions, 5);
  EXPECT_EQ(pager_->counts().bytesOut, 3 * page_);
  EXPECT_EQ(pager_->counts().bytesIn, 3 * page_);
}

TEST_P(DevicePagerClaims, WhatWasOnlyReadSinceGoesWithoutACopy) {
  make(2, page_, 1);
  change(0, 0.0, 7.0);
  change(1, 0.0, 8.0);
  valuesOf(0);
  const std::int64_t before = pager_->counts().bytesOut;
  valuesOf(1);

  EXPECT_EQ(pager_->counts().bytesOut, before);
  EXPECT_EQ(pager_->counts().dropped, 1);
  EXPECT_EQ(valuesOf(0), std::vector<double>(4, 7.0));
}

TEST_P(DevicePagerClaims, WhatIsOverwrittenComesWithoutACopy) {
  make(2, page_, 1);
  change(0, 0.0, 7.0);
  change(1, 0.0, 8.0);
  touch({{0, PieceAccess::Overwrite}});
  test::putAffine(*device_, stream_, memory_[0], 4, 0.0, 9.0);
  pager_->close(std::span(&stream_, 1));

  EXPECT_EQ(pager_->counts().bytesIn, 0);
  EXPECT_EQ(valuesOf(0), std::vector<double>(4, 9.0));
}

TEST_P(DevicePagerClaims, WhatNobodyNeedsGoesFirstAndWithoutACopy) {
  make(3, page_, 2);
  Planned planned(3);
  planned[0] = {.next = 1, .isNeeded = false};
  planned[1] = {.next = 9, .isNeeded = true};
  change(0, 0.0, 7.0);
  change(1, 0.0, 8.0);
  pager_->begin(&planned, {&watch_, in_, out_});
  change(2, 0.0, 9.0);

  EXPECT_EQ(pager_->counts().dropped, 1);
  EXPECT_EQ(pager_->counts().bytesOut, 0);
  EXPECT_EQ(valuesOf(1), std::vector<double>(4, 8.0));
  EXPECT_EQ(pager_->counts().bytesIn, 0) << "piece 1 had stayed";
}

TEST_P(DevicePagerClaims, WhatIsTouchedLastOfAllGoesFirst) {
  make(4, page_, 3);
  Planned planned(4);
  for (std::int32_t piece = 0; piece < 3; ++piece) change(piece, 0.0, 7.0 + piece);
  planned[0].next = 5;
  planned[1].next = 9;
  planned[2].next = 7;
  pager_->begin(&planned, {&watch_, in_, out_});
  change(3, 0.0, 1.0);
  valuesOf(0);
  valuesOf(2);

  EXPECT_EQ(pager_->counts().evictions, 1);
  valuesOf(1);
  EXPECT_EQ(pager_->counts().bytesIn, page_);
}

TEST_P(DevicePagerClaims, MoreThanIsNeededIsMadeFreeAtOnce) {
  const int pieces = 65;
  make(pieces, page_, 64);
  for (std::int32_t piece = 0; piece < pieces; ++piece) change(piece, 0.0, 7.0);

  EXPECT_EQ(pager_->counts().rounds, 1);
  EXPECT_EQ(pager_->counts().evictions, 1 + 64 / 32);
  EXPECT_EQ(pager_->residentSegments(), 62);
}

TEST_P(DevicePagerClaims, AGroupTakesAnEighthOfTheRoomAndTheFirstOfItAll) {
  make(20, page_, 16);
  pager_->open();
  int taken = 0;
  while (pager_->take(std::vector<PieceUse>{{taken, PieceAccess::Read}}, GroupRoom::Eighth)) ++taken;
  EXPECT_EQ(taken, 2);

  std::vector<PieceUse> all(16);
  for (std::int32_t n = 0; n < 16; ++n) all[static_cast<std::size_t>(n)].piece = n;
  pager_->open();
  EXPECT_TRUE(pager_->take(all, GroupRoom::All));
  all.push_back({16, PieceAccess::Read});
  pager_->open();
  EXPECT_FALSE(pager_->take(all, GroupRoom::All));
  EXPECT_EQ(pager_->bytesOf(all), 17 * page_);
}

TEST_P(DevicePagerClaims, AnotherStreamComesAfterTheCopyThatBroughtIt) {
  make(3, page_, 2);
  change(0, 0.0, 7.0);
  change(1, 0.0, 8.0);
  change(2, 0.0, 9.0);  // 0 or 1 has left
  const DeviceStream other = device_->makeStream();
  for (const std::int32_t piece : {0, 1}) {
    touch({{piece, PieceAccess::Read}});
    pager_->close(std::span(&stream_, 1));
    pager_->open();
    ASSERT_TRUE(pager_->take(std::vector<PieceUse>{{piece, PieceAccess::Read}}, GroupRoom::All));
    pager_->makeResident(std::span(&other, 1));
    std::vector<double> got(4);
    device_->copy(other, CopyDirection::DeviceToHost, got.data(), memory_[static_cast<std::size_t>(piece)],
                  4 * sizeof(double));
    pager_->close(std::span(&other, 1));
    device_->synchronize(other);
    EXPECT_EQ(got, std::vector<double>(4, 7.0 + piece));
  }
}

/// Pieces of random sizes, which share segments, and launches one after another, each in a random stream.
TEST_P(DevicePagerClaims, RandomLaunchesLeaveWhatAllMemoryWouldHold) {
  const std::vector<DeviceStream> streams{stream_, device_->makeStream(), device_->makeStream()};
  const DeviceEvent last = device_->makeEvent();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random() % n); };
    const int pieces = 6 + below(10);
    pager_.reset();
    memory_.clear();
    make(pieces, page_ / 2 + page_ / 16 * below(12), 4);
    Planned planned(static_cast<std::size_t>(pieces));
    pager_->begin(&planned, {&watch_, in_, out_});
    std::vector<double> right(static_cast<std::size_t>(pieces), 0.0);
    for (std::int32_t piece = 0; piece < pieces; ++piece) change(piece, 0.0, 0.0);
    for (int n = 0; n < 60; ++n) {
      const std::int32_t piece = below(static_cast<std::uint64_t>(pieces));
      planned[below(static_cast<std::uint64_t>(pieces))].next = below(100);
      double& value = right[static_cast<std::size_t>(piece)];
      value = 0.5 * value + n;
      device_->record(last, stream_);
      stream_ = streams[static_cast<std::size_t>(below(streams.size()))];
      device_->wait(stream_, last);
      change(piece, 0.5, n);
    }
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
      EXPECT_EQ(valuesOf(piece), std::vector<double>(4, right[static_cast<std::size_t>(piece)]));
    }
    EXPECT_GT(pager_->counts().evictions, 0);
    device_->synchronize(stream_);
  }
}

TEST_P(DevicePagerClaims, ATraceHasTheCopiesWithTheirBytes) {
  std::vector<DeviceSpan> spans;
  Trace trace(Trace::Clock::now(), Trace::kUsualBudget, [&](const TraceRecords& records) {
    spans.insert(spans.end(), records.onDevices.begin(), records.onDevices.end());
  });
  DeviceTimeline timeline(*device_, trace);
  LaunchProfiler watch(&timeline, nullptr);
  const DevicePager::Shown shown{&watch, watch.add("in", DeviceWork::Copy),
                                 watch.add("out", DeviceWork::Copy)};
  make(2, page_, 1);
  pager_->begin(nullptr, shown);
  change(0, 0.0, 7.0);
  change(1, 0.0, 8.0);
  valuesOf(0);
  trace.flush();

  std::map<std::string, std::int64_t> bytes;
  for (const DeviceSpan& span : spans) bytes[std::string(span.what.name)] += span.what.bytes;
  EXPECT_EQ(bytes["out"], 2 * page_);
  EXPECT_EQ(bytes["in"], page_);
}

INSTANTIATE_TEST_SUITE_P(Devices, DevicePagerClaims, testing::ValuesIn(test::deviceKinds()));

}  // namespace
}  // namespace tessera
