#include "scheduler/device/backend/device_backend.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>

#include "scheduler/device/backend/pinned_host.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::Each;
using testing::HasSubstr;

class DeviceBackendClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) device_ = makeDevice();
  }
  /// Within some seconds.
  bool isSoonDone(DeviceEvent event) {
    for (int n = 0; n < 5000 && !device_->isDone(event); ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return device_->isDone(event);
  }
  static void raise(OnDevice<int>& flag) { std::atomic_ref<int>(*flag.data()).store(1); }

  std::unique_ptr<DeviceBackend> device_;
};

TEST_P(DeviceBackendClaims, WorkInAStreamRunsInItsOrder) {
  const DeviceStream stream = device_->makeStream();
  OnDevice<double> data(*device_, 1000);
  data.set(stream, std::vector<double>(1000, 1.0));

  double expected = 1.0;
  for (int n = 0; n < 40; ++n) {
    // Twice and one more are told apart by their order.
    test::putAffine(*device_, stream, data.data(), 1000, n % 3 == 0 ? 2.0 : 1.0, n % 3 == 0 ? 0.0 : 1.0);
    expected = n % 3 == 0 ? 2.0 * expected : expected + 1.0;
  }

  EXPECT_THAT(data.get(stream), Each(expected));
}

TEST_P(DeviceBackendClaims, AStreamGoesOnWhileAnotherIsBusy) {
  const DeviceStream busy = device_->makeStream();
  const DeviceStream other = device_->makeStream();
  const DeviceEvent busyDone = device_->makeEvent();
  const DeviceEvent otherDone = device_->makeEvent();
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  OnDevice<double> pinned(*device_, 512, DeviceSpace::PinnedHost);
  OnDevice<double> data(*device_, 512);
  *flag.data() = 0;
  std::fill_n(pinned.data(), 512, 3.0);

  test::putSpin(*device_, busy, flag.data());
  device_->record(busyDone, busy);
  device_->copy(other, CopyDirection::HostToDevice, data.data(), pinned.data(), data.bytes());
  test::putAffine(*device_, other, data.data(), 512, 2.0, 0.0);
  device_->copy(other, CopyDirection::DeviceToHost, pinned.data(), data.data(), data.bytes());
  device_->record(otherDone, other);

  EXPECT_TRUE(isSoonDone(otherDone)) << "copies and kernels waited for the kernel of another stream";
  EXPECT_FALSE(device_->isDone(busyDone));
  EXPECT_THAT(std::vector<double>(pinned.data(), pinned.data() + 512), Each(6.0));
  raise(flag);
  EXPECT_TRUE(isSoonDone(busyDone));
}

TEST_P(DeviceBackendClaims, EventsChainStreamsWithoutTheHost) {
  std::vector<DeviceStream> streams;
  for (int n = 0; n < 3; ++n) streams.push_back(device_->makeStream());
  OnDevice<double> data(*device_, 100);
  data.set(streams[0], std::vector<double>(100, 1.0));

  double expected = 1.0;
  DeviceStream last = streams[0];
  for (std::size_t n = 0; n < 30; ++n) {
    const DeviceStream stream = streams[n % 3];
    const DeviceEvent before = device_->makeEvent();
    device_->record(before, last);
    device_->wait(stream, before);
    test::putAffine(*device_, stream, data.data(), 100, n % 2 == 0 ? 2.0 : 1.0, n % 2 == 0 ? 0.0 : 1.0);
    expected = n % 2 == 0 ? 2.0 * expected : expected + 1.0;
    last = stream;
  }

  EXPECT_THAT(data.get(last), Each(expected));
}

TEST_P(DeviceBackendClaims, WhoWaitsForAnEventIsNotHeldUpByItsNextRecord) {
  const DeviceStream quick = device_->makeStream();
  const DeviceStream waiting = device_->makeStream();
  const DeviceStream busy = device_->makeStream();
  const DeviceEvent event = device_->makeEvent();
  const DeviceEvent waited = device_->makeEvent();
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  *flag.data() = 0;

  device_->record(event, quick);
  device_->wait(waiting, event);
  test::putSpin(*device_, busy, flag.data());
  device_->record(event, busy);
  device_->record(waited, waiting);

  EXPECT_TRUE(isSoonDone(waited));
  EXPECT_FALSE(device_->isDone(event)) << "the event is its last record";
  raise(flag);
  EXPECT_TRUE(isSoonDone(event));
}

TEST_P(DeviceBackendClaims, AnEventThatWasNeverRecordedIsDoneAndHoldsNobodyUp) {
  const DeviceStream stream = device_->makeStream();
  const DeviceEvent event = device_->makeEvent();

  EXPECT_TRUE(device_->isDone(event));
  device_->wait(stream, event);
  device_->synchronize(stream);
}

TEST_P(DeviceBackendClaims, TimedEventsTellHowLongTheWorkBetweenThemTook) {
  using Clock = std::chrono::steady_clock;
  const DeviceStream stream = device_->makeStream();
  const DeviceEvent first = device_->makeTimedEvent();
  const DeviceEvent then = device_->makeTimedEvent();
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  *flag.data() = 0;

  const Clock::time_point begin = Clock::now();
  device_->record(first, stream);
  test::putSpin(*device_, stream, flag.data());
  device_->record(then, stream);
  ASSERT_TRUE(isSoonDone(first));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THROW(device_->secondsBetween(first, then), InternalError) << "the second is not done";
  raise(flag);
  ASSERT_TRUE(isSoonDone(then));
  const double seconds = device_->secondsBetween(first, then);

  EXPECT_GE(seconds, 0.020 * 0.999) << "the kernel went on for that long";
  EXPECT_LE(seconds, std::chrono::duration<double>(Clock::now() - begin).count() * 1.001);
}

TEST_P(DeviceBackendClaims, TimedEventsKeepTheOrderOfStreamsTooAndTheirLastRecord) {
  const DeviceStream stream = device_->makeStream();
  const DeviceStream other = device_->makeStream();
  const DeviceEvent first = device_->makeTimedEvent();
  const DeviceEvent then = device_->makeTimedEvent();
  OnDevice<double> data(*device_, 100'000);
  device_->fill(stream, data.data(), 0, data.bytes());

  double last = -1.0;
  device_->record(first, stream);
  for (int n = 0; n < 5; ++n) {
    test::putAffine(*device_, stream, data.data(), 100'000, 0.0, 1.0);
    device_->record(then, stream);
    device_->wait(other, then);
    test::putAffine(*device_, other, data.data(), 100'000, 2.0, 1.0);
    device_->synchronize(other);
    const double seconds = device_->secondsBetween(first, then);
    EXPECT_GT(seconds, last);
    last = seconds;
  }
  const std::vector<double> got = data.get(other);

  EXPECT_THAT(got, Each(3.0));
}

TEST_P(DeviceBackendClaims, CopiesInAllDirectionsCarryTheRightBytes) {
  const std::unique_ptr<DeviceBackend> peer = makeDevice();
  const DeviceStream stream = device_->makeStream();
  const DeviceStream peersStream = peer->makeStream();
  const DeviceEvent arrived = device_->makeEvent();
  std::vector<double> values(777);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = 0.1 * static_cast<double>(n);
  OnDevice<double> first(*device_, values.size());
  OnDevice<double> second(*device_, values.size());
  ASSERT_TRUE(peer->enablePeer(*device_));
  const DeviceEvent done = peer->makeEvent();

  device_->copy(stream, CopyDirection::HostToDevice, first.data(), values.data(), first.bytes());
  device_->copy(stream, CopyDirection::WithinDevice, second.data(), first.data(), first.bytes());
  device_->record(arrived, stream);
  peer->waitForPeer(peersStream, *device_, arrived);
  test::putAffine(*peer, peersStream, second.data(), 777, 1.0, 1.0);
  peer->record(done, peersStream);
  device_->waitForPeer(stream, *peer, done);
  const std::vector<double> got = second.get(stream);

  for (std::size_t n = 0; n < values.size(); ++n) ASSERT_EQ(got[n], values[n] + 1.0) << n;
}

TEST_P(DeviceBackendClaims, ItsEndWaitsForTheWorkInFlight) {
  const std::unique_ptr<DeviceBackend> owner = makeDevice();
  OnDevice<double> data(*owner, 4096);
  OnDevice<double> pinned(*owner, 4096, DeviceSpace::PinnedHost);
  const DeviceStream stream = device_->makeStream();

  std::fill_n(pinned.data(), 4096, 1.0);
  device_->copy(stream, CopyDirection::HostToDevice, data.data(), pinned.data(), data.bytes());
  for (int n = 0; n < 50; ++n) test::putAffine(*device_, stream, data.data(), 4096, 1.0, 1.0);
  device_->copy(stream, CopyDirection::DeviceToHost, pinned.data(), data.data(), data.bytes());
  device_.reset();

  EXPECT_THAT(std::vector<double>(pinned.data(), pinned.data() + 4096), Each(51.0));
}

TEST_P(DeviceBackendClaims, MoreMemoryThanThereIsIsASentenceAndHarmsNothing) {
  const DeviceStream stream = device_->makeStream();
  const std::int64_t all = device_->info().memoryBytes;
  try {
    device_->allocate(DeviceSpace::Device, 2 * all);
    FAIL() << "twice the memory was given";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.fault, DeviceFault::OutOfMemory);
    EXPECT_EQ(error.exitCode(), 6);
    EXPECT_THAT(error.message(), HasSubstr(asText(device_->info()) + ": its memory is used up"));
    EXPECT_THAT(error.message(), HasSubstr("wanted    " + std::to_string(2 * all) + " bytes"));
    EXPECT_THAT(error.message(), HasSubstr("fix "));
  }

  OnDevice<double> data(*device_, 10);
  data.set(stream, std::vector<double>(10, 1.0));
  EXPECT_THAT(data.get(stream), Each(1.0));
}

TEST_P(DeviceBackendClaims, FillsBytesInTheOrderOfTheStream) {
  const DeviceStream stream = device_->makeStream();
  OnDevice<std::uint8_t> data(*device_, 1000);

  device_->fill(stream, data.data(), 7, 1000);
  device_->fill(stream, data.data() + 10, 0xFF, 3);
  const std::vector<std::uint8_t> got = data.get(stream);

  for (std::size_t n = 0; n < got.size(); ++n) ASSERT_EQ(got[n], n >= 10 && n < 13 ? 0xFF : 7) << n;
}

TEST_P(DeviceBackendClaims, AKernelWorksOnPinnedMemoryOfTheHostWhereItIs) {
  const DeviceStream stream = device_->makeStream();
  std::vector<double> values(5000, 1.0);
  {
    const std::vector<std::span<std::byte>> pieces{std::as_writable_bytes(std::span(values))};
    const PinnedHost pinned(*device_, pieces);
    EXPECT_GE(pinned.bytes(), 40'000);
    EXPECT_EQ(device_->pinnedBytes(), pinned.bytes());
    test::putAffine(*device_, stream, values.data(), 5000, 2.0, 1.0);
    device_->synchronize(stream);
  }
  EXPECT_EQ(device_->pinnedBytes(), 0);
  EXPECT_THAT(values, Each(3.0));
}

TEST_P(DeviceBackendClaims, PiecesInOnePageArePinnedTogether) {
  const DeviceStream stream = device_->makeStream();
  std::vector<double> values(4096, 1.0);
  const auto all = std::as_writable_bytes(std::span(values));
  const std::vector<std::span<std::byte>> pieces{
      all.subspan(20'000, 80), all.subspan(80, 16), all.subspan(8, 16), {}};
  const PinnedHost pinned(*device_, pieces);

  test::putAffine(*device_, stream, values.data() + 1, 2, 1.0, 1.0);
  test::putAffine(*device_, stream, values.data() + 2500, 10, 1.0, 1.0);
  device_->synchronize(stream);

  EXPECT_EQ(values[1] + values[2] + values[2500] + values[2509], 8.0);
  EXPECT_EQ(values[0] + values[3] + values[2510], 3.0);
}

TEST_P(DeviceBackendClaims, AKernelReadsThePeersMemoryWherePeersAreEnabled) {
  const std::unique_ptr<DeviceBackend> peer = makeDevice();
  const DeviceStream stream = device_->makeStream();
  const DeviceStream peersStream = peer->makeStream();
  OnDevice<double> data(*peer, 100);
  data.set(peersStream, std::vector<double>(100, 1.0));

  ASSERT_TRUE(device_->enablePeer(*peer)) << "a device is its own peer";
  test::putAffine(*device_, stream, data.data(), 100, 2.0, 1.0);
  device_->synchronize(stream);

  EXPECT_THAT(data.get(peersStream), Each(3.0));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceBackendClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

TEST(EmulatedDevice, ALostDeviceNamesWhatWasLaunchedLast) {
  EmulatedOptions options;
  options.failsAfter = 2;
  const auto device = makeEmulatedDevice(options);
  const DeviceStream stream = device->makeStream();
  OnDevice<double> data(*device, 4);
  for (int n = 0; n < 3; ++n) test::putAffine(*device, stream, data.data(), 4, 0.0, 1.0);

  try {
    device->synchronize(stream);
    FAIL() << "the planned fault did not come";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.fault, DeviceFault::Lost);
    EXPECT_EQ(error.exitCode(), 6);
    EXPECT_EQ(
        error.message(),
        "device 0 (emulated device): the device is lost (a planned fault)\n"
        "  call      synchronize\n"
        "  launched  Test::affine on stream 0\n"
        "  fix       look at the system's log (dmesg, nvidia-smi), then restart from the last checkpoint");
  }
}

TEST(EmulatedDevice, ASeedGivesTheSameOrderOfStreamsAgain) {
  // Two streams append to one number, so that it tells their order.
  const auto order = [](std::uint64_t seed) {
    EmulatedOptions options;
    options.seed = seed;
    options.progress = EmulatedProgress::Stepped;
    const auto device = makeEmulatedDevice(options);
    const DeviceStream a = device->makeStream();
    const DeviceStream b = device->makeStream();
    OnDevice<double> data(*device, 1);
    *data.data() = 1.0;
    for (int n = 0; n < 12; ++n) {
      test::putAffine(*device, a, data.data(), 1, 2.0, 0.0);
      test::putAffine(*device, b, data.data(), 1, 2.0, 1.0);
    }
    device->synchronize(a);
    device->synchronize(b);
    return *data.data();
  };

  std::vector<double> seen;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    seen.push_back(order(seed));
    EXPECT_EQ(seen.back(), order(seed));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 4) << "seeds should give different orders";
}

TEST(EmulatedDevice, ASteppedOneReachesTimedEventsWhenTheirTurnComes) {
  EmulatedOptions options;
  options.progress = EmulatedProgress::Stepped;
  const auto device = makeEmulatedDevice(options);
  const DeviceStream stream = device->makeStream();
  const DeviceEvent first = device->makeTimedEvent();
  const DeviceEvent then = device->makeTimedEvent();
  device->record(first, stream);
  device->synchronize(stream);
  device->record(then, stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  device->synchronize(stream);

  EXPECT_GE(device->secondsBetween(first, then), 0.005);
}

TEST(EmulatedDevice, WhoWaitsForASteppedOneMovesThoseThatItWaitsForToo) {
  EmulatedOptions options;
  options.progress = EmulatedProgress::Stepped;
  std::vector<std::unique_ptr<DeviceBackend>> devices;
  std::vector<DeviceStream> streams;
  for (int n = 0; n < 3; ++n) {
    devices.push_back(makeEmulatedDevice(options));
    streams.push_back(devices.back()->makeStream());
  }
  OnDevice<double> data(*devices[0], 1);
  *data.data() = 1.0;
  for (std::size_t n = 0; n < 3; ++n) {
    test::putAffine(*devices[n], streams[n], data.data(), 1, 2.0, 1.0);
    if (n == 2) break;
    const DeviceEvent event = devices[n]->makeEvent();
    devices[n]->record(event, streams[n]);
    devices[n + 1]->waitForPeer(streams[n + 1], *devices[n], event);
  }

  devices[2]->synchronize(streams[2]);
  EXPECT_EQ(*data.data(), 15.0);
}

TEST(EmulatedDevice, AnEventWithoutATimeIsNotAskedForOne) {
  const auto device = makeEmulatedDevice({});
  const DeviceEvent event = device->makeEvent();

  EXPECT_THROW(device->secondsBetween(event, event), InternalError);
}

TEST(CudaDevice, OneThatIsNotThereIsASentence) {
  try {
    makeCudaDevice(99);
    FAIL() << "device 99 was made";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.fault, DeviceFault::NoDevice);
    EXPECT_EQ(error.exitCode(), 6);
    EXPECT_THAT(error.message(), testing::StartsWith("device 99: this "));
    EXPECT_THAT(error.message(), HasSubstr("\n  fix       run without --device cuda"));
  }
}

}  // namespace
}  // namespace tessera
