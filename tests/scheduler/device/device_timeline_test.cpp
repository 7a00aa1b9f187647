#include "scheduler/tracing/device_timeline.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "scheduler/device/lane/launch_profiler.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::ElementsAre;

class DeviceTimelineClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) device_ = makeDevice();
  }

  /// What is complete by now, without waiting for the rest.
  std::vector<DeviceSpan> givenNow(DeviceTimeline& timeline) {
    spans_.clear();
    timeline.collect();
    trace_.removeSource(timeline);
    trace_.flush();
    trace_.addSource(timeline);
    return spans_;
  }
  std::vector<DeviceSpan> givenAtTheEnd() {
    spans_.clear();
    trace_.flush();
    return spans_;
  }
  /// How many events the device has: the number of one more, which is made for that.
  std::int32_t eventCount() { return device_->makeEvent().number; }

  std::vector<DeviceSpan> spans_;
  Trace trace_{Trace::Clock::now(), Trace::kUsualBudget, [this](const TraceRecords& records) {
                 spans_.insert(spans_.end(), records.onDevices.begin(), records.onDevices.end());
               }};
  std::unique_ptr<DeviceBackend> device_;
};

/// A kernel that runs until somebody says so.
class Spinning {
 public:
  explicit Spinning(DeviceBackend& device) : device_(device), flag_(device, 1, DeviceSpace::PinnedHost) {
    *flag_.data() = 0;
  }
  void putInto(DeviceStream stream) { test::putSpin(device_, stream, flag_.data()); }
  void stop() { std::atomic_ref<int>(*flag_.data()).store(1); }

 private:
  DeviceBackend& device_;
  OnDevice<int> flag_;
};

TEST_P(DeviceTimelineClaims, ASpanLiesWhereTheHostSawItsWork) {
  DeviceTimeline timeline(*device_, trace_);
  const DeviceStream stream = device_->makeStream();
  const std::int64_t error = timeline.errorNanoseconds() + 5'000;
  Spinning kernel(*device_);
  trace_.beginStep({}, 0);

  const std::int64_t before = trace_.now();
  timeline.open(stream, {.name = "spin", .work = DeviceWork::Pack, .tasks = 3, .bytes = 64});
  kernel.putInto(stream);
  timeline.close(stream, 16);
  const std::int64_t launched = trace_.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t stopped = trace_.now();
  kernel.stop();
  device_->synchronize(stream);
  const std::int64_t seen = trace_.now();
  trace_.endStep();
  const std::vector<DeviceSpan> spans = givenAtTheEnd();

  ASSERT_EQ(spans.size(), 1U);
  const DeviceSpan& span = spans.front();
  EXPECT_GE(span.launchedAt, before);
  EXPECT_LE(span.launchedAt, launched);
  EXPECT_GE(span.begin, before - error);
  EXPECT_LE(span.begin, stopped + error);
  EXPECT_GE(span.end, stopped - error);
  EXPECT_LE(span.end, seen + error);
  EXPECT_EQ(span.what.name, "spin");
  EXPECT_EQ(span.what.work, DeviceWork::Pack);
  EXPECT_EQ(span.what.tasks, 3);
  EXPECT_EQ(span.what.bytes, 80);
  EXPECT_EQ(span.device, device_->info().number);
  EXPECT_EQ(span.stream, stream.number);
  EXPECT_EQ(span.run, 0);
}

TEST_P(DeviceTimelineClaims, ASpanThatIsOpenWhenTheClockIsTiedAgainKeepsItsTime) {
  DeviceTimeline timeline(*device_, trace_);
  const DeviceStream stream = device_->makeStream();
  Spinning kernel(*device_);
  std::int64_t error = timeline.errorNanoseconds();
  const std::int64_t before = trace_.now();
  timeline.open(stream, {.name = "spin"});
  kernel.putInto(stream);
  timeline.close(stream, 0);
  std::vector<DeviceStream> others;
  for (int step = 0; step < 3; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(260));
    trace_.beginStep({}, 0);
    others.push_back(device_->makeStream());
    timeline.open(others.back(), {.name = "nothing"});
    timeline.close(others.back(), 0);
    trace_.endStep();
  }
  for (const DeviceStream other : others) device_->synchronize(other);
  const std::int64_t stopped = trace_.now();
  kernel.stop();
  device_->synchronize(stream);
  const std::int64_t seen = trace_.now();
  const std::vector<DeviceSpan> spans = givenAtTheEnd();

  ASSERT_EQ(spans.size(), 4U);
  error += timeline.errorNanoseconds() + 1'000'000;
  EXPECT_GE(spans[0].begin, before - error);
  EXPECT_LE(spans[0].begin, before + 250'000'000);
  EXPECT_GE(spans[0].end, stopped - error);
  EXPECT_LE(spans[0].end, seen + error);
  for (std::size_t n = 1; n < 4; ++n) {
    const auto at = static_cast<std::int64_t>(n) * 260'000'000;
    EXPECT_GE(spans[n].begin, spans[0].launchedAt + at - error);
    EXPECT_LE(spans[n].end, stopped + error);
    EXPECT_EQ(spans[n].run, static_cast<std::int64_t>(n) - 1);
  }
}

TEST_P(DeviceTimelineClaims, CollectingWaitsForNobodyAndKeepsTheOrderOfTime) {
  DeviceTimeline timeline(*device_, trace_);
  const DeviceStream busy = device_->makeStream();
  const DeviceStream other = device_->makeStream();
  OnDevice<double> data(*device_, 100);
  const auto put = [&](std::string_view name) {
    timeline.open(other, {.name = name});
    device_->fill(other, data.data(), 0, data.bytes());
    timeline.close(other, 0);
    device_->synchronize(other);
  };
  Spinning kernel(*device_);
  put("first");
  const DeviceEvent begun = device_->makeEvent();
  timeline.open(busy, {.name = "long"});
  device_->record(begun, busy);
  kernel.putInto(busy);
  timeline.close(busy, 0);
  while (!device_->isDone(begun)) std::this_thread::yield();
  put("beside");

  const auto names = [](const std::vector<DeviceSpan>& spans) {
    std::vector<std::string> names;
    for (const DeviceSpan& span : spans) names.emplace_back(span.what.name);
    return names;
  };
  EXPECT_THAT(names(givenNow(timeline)), ElementsAre("first"))
      << "the last one began behind one that is not done";
  kernel.stop();
  EXPECT_THAT(names(givenAtTheEnd()), ElementsAre("long", "beside"));
}

TEST_P(DeviceTimelineClaims, EventsAreUsedAgain) {
  DeviceTimeline timeline(*device_, trace_);
  const DeviceStream stream = device_->makeStream();
  const auto round = [&] {
    for (int n = 0; n < 10; ++n) {
      timeline.open(stream, {.name = "nothing"});
      timeline.close(stream, 0);
    }
    EXPECT_EQ(givenAtTheEnd().size(), 10U);
  };

  round();
  const std::int32_t before = eventCount();
  for (int n = 0; n < 20; ++n) round();
  EXPECT_EQ(eventCount(), before + 1);
}

TEST_P(DeviceTimelineClaims, ALaunchOverSeveralStreamsIsASpanInEach) {
  DeviceTimeline timeline(*device_, trace_);
  const std::vector<DeviceStream> streams{device_->makeStream(), device_->makeStream()};
  LaunchProfiler watch(&timeline, nullptr);
  watch.add("other", DeviceWork::Fill);
  const std::int32_t kind = watch.add("Test::split", DeviceWork::Kernel);
  {
    LaunchScope scope(watch, kind, streams, 5);
    scope.carries(100);
    scope.carries(20);
  }
  std::vector<DeviceSpan> spans = givenAtTheEnd();

  ASSERT_EQ(spans.size(), 2U);
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.stream < b.stream; });
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(spans[n].what.name, "Test::split");
    EXPECT_EQ(spans[n].what.part, static_cast<int>(n));
    EXPECT_EQ(spans[n].what.tasks, 5);
    EXPECT_EQ(spans[n].what.bytes, n == 0 ? 120 : 0);
    EXPECT_EQ(spans[n].stream, streams[n].number);
  }
}

TEST_P(DeviceTimelineClaims, NothingIsRecordedWhereNobodyHears) {
  const std::vector<DeviceStream> streams{device_->makeStream()};
  LaunchProfiler watch(nullptr, nullptr);
  const std::int32_t kind = watch.add("Test::quiet", DeviceWork::Kernel);
  const std::int32_t before = eventCount();
  { const LaunchScope scope(watch, kind, streams, 1); }

  EXPECT_EQ(eventCount(), before + 1);
  EXPECT_TRUE(givenAtTheEnd().empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceTimelineClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

/// Streams that wait for one another, and steps.
std::vector<DeviceSpan> randomSpans(std::uint64_t seed, EmulatedProgress progress) {
  std::mt19937_64 random(seed);
  std::vector<DeviceSpan> spans;
  Trace trace(Trace::Clock::now(), 1, [&](const TraceRecords& records) {
    spans.insert(spans.end(), records.onDevices.begin(), records.onDevices.end());
  });
  EmulatedOptions options;
  options.seed = seed;
  options.progress = progress;
  const auto device = makeEmulatedDevice(options);
  DeviceTimeline timeline(*device, trace);
  std::vector<DeviceStream> streams;
  for (int n = 0; n < 3; ++n) streams.push_back(device->makeStream());
  const auto any = [&] { return random() % streams.size(); };
  const DeviceEvent event = device->makeEvent();
  constexpr std::size_t kEach = 50;  // a part of the memory for each stream: they do not wait for one another
  OnDevice<double> data(*device, kEach * streams.size());
  for (int step = 0; step < 4; ++step) {
    trace.beginStep({}, 0);
    for (int n = 0; n < 20; ++n) {
      const std::size_t chosen = any();
      const DeviceStream stream = streams[chosen];
      timeline.open(stream, {.name = "fill"});
      device->fill(stream, data.data() + kEach * chosen, 0, kEach * sizeof(double));
      timeline.close(stream, 0);
      device->record(event, stream);
      device->wait(streams[any()], event);
    }
    timeline.collect();
    trace.endStep();
  }
  trace.flush();
  return spans;
}

TEST(DeviceTimeline, SpansAreInTheOrderOfTimeAndApartInTheirStreams) {
  for (const auto progress : {EmulatedProgress::Threads, EmulatedProgress::Stepped}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const std::vector<DeviceSpan> spans = randomSpans(seed, progress);
      ASSERT_EQ(spans.size(), 80U);
      std::map<std::int32_t, std::int64_t> freeFrom;
      std::int64_t last = spans.front().begin;
      for (const DeviceSpan& span : spans) {
        EXPECT_GE(span.begin, last);
        EXPECT_GE(span.begin, freeFrom[span.stream]);
        EXPECT_GE(span.end, span.begin);
        last = span.begin;
        freeFrom[span.stream] = span.end;
      }
    }
  }
}

TEST(DeviceTimeline, ADeviceThatIsLostLeavesWhatItHadTold) {
  std::size_t count = 0;
  Trace trace(Trace::Clock::now(), Trace::kUsualBudget,
              [&](const TraceRecords& records) { count += records.onDevices.size(); });
  EmulatedOptions options;
  options.failsAfter = 5 + 4;  // the first tie takes five pieces of work
  const auto device = makeEmulatedDevice(options);
  {
    DeviceTimeline timeline(*device, trace);
    const DeviceStream stream = device->makeStream();
    LaunchProfiler watch(&timeline, nullptr);
    const std::int32_t kind = watch.add("Test::lost", DeviceWork::Kernel);
    for (int n = 0; n < 2; ++n) {
      const LaunchScope scope(watch, kind, std::span(&stream, 1), 1);
    }
    device->synchronize(stream);
    timeline.collect();
    EXPECT_THROW(
        {
          for (int n = 0; n < 1000; ++n) {
            const LaunchScope scope(watch, kind, std::span(&stream, 1), 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        },
        DeviceError);
    trace.flush();
  }
  EXPECT_EQ(count, 2U);
}

#if defined(TESSERA_NVTX_TOOL)
TEST(LaunchProfiler, AProfilerSeesARangeOfTheTasksNameAroundItsLaunch) {
  const std::string file = testing::TempDir() + "/nvtx_launches";
  ::setenv("TESSERA_RECORD", file.c_str(), 1);
  ::setenv("NVTX_INJECTION64_PATH", TESSERA_NVTX_TOOL, 1);
  {
    NvtxAnnotations ranges;
    ASSERT_TRUE(ranges.active()) << ranges.notice();
    LaunchProfiler watch(nullptr, &ranges);
    const std::int32_t kind = watch.add("Heat::advance", DeviceWork::Kernel);
    const DeviceStream stream{0};
    const LaunchScope scope(watch, kind, std::span(&stream, 1), 64);
  }

  std::stringstream record;
  record << std::ifstream(file + "." + std::to_string(::getpid())).rdbuf();
  const std::string thread = std::to_string(::gettid());
  EXPECT_THAT(record.str(),
              testing::HasSubstr("push " + thread + " Heat::advance (64)\npop " + thread + "\n"));
}
#endif

}  // namespace
}  // namespace tessera
