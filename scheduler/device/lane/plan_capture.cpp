#include "scheduler/device/lane/plan_capture.hpp"

#include <memory>

#include "core/text/contracts.hpp"

namespace tessera {

namespace {

/// A device that notes what a lane asks of its streams, and never comes to an end of anything.
class NotingDevice final : public DeviceBackend {
 public:
  explicit NotingDevice(std::vector<PlanCapture::Call>& calls) : calls_(calls) {}

  std::int32_t eventCount() const { return events_; }

  const DeviceInfo& info() const override { return info_; }
  void bindThread() override {}
  DeviceStream makeStream() override { return {streams_++}; }
  DeviceStream makeUrgentStream() override { return {streams_++}; }
  DeviceEvent makeEvent() override { return {events_++}; }
  DeviceEvent makeTimedEvent() override { return {events_++}; }
  void record(DeviceEvent event, DeviceStream stream) override {
    calls_.push_back({PlanCapture::Call::Record, event.number, stream.number});
  }
  bool isDone(DeviceEvent) override { return false; }
  double secondsBetween(DeviceEvent, DeviceEvent) override { return 0.0; }
  void wait(DeviceStream stream, DeviceEvent event) override {
    calls_.push_back({PlanCapture::Call::Wait, event.number, stream.number});
  }
  void waitForPeer(DeviceStream, DeviceBackend&, DeviceEvent) override { refuse(); }
  void synchronize(DeviceStream) override {}
  void copy(DeviceStream, CopyDirection, void*, const void*, std::int64_t) override { refuse(); }
  void fill(DeviceStream, void*, std::uint8_t, std::int64_t) override { refuse(); }
  void launch(DeviceStream, const DeviceLaunch&) override { refuse(); }
  void beginCapture(DeviceStream) override { refuse(); }
  DeviceGraph endCapture() override { return {}; }
  void launchGraph(DeviceStream, DeviceGraph, const char*) override { refuse(); }
  void releaseGraph(DeviceGraph) noexcept override {}
  void* allocate(DeviceSpace, std::int64_t) override { return nullptr; }
  void release(DeviceSpace, void*) noexcept override {}
  std::unique_ptr<DeviceAddresses> makeAddresses(std::int64_t, std::int64_t) override { return nullptr; }
  void pin(void*, std::int64_t) override { refuse(); }
  void unpin(void*) noexcept override {}
  std::int64_t pinnedBytes() const override { return 0; }
  bool enablePeer(DeviceBackend&) override { return false; }

 private:
  static void refuse() { TESSERA_EXPECT(false, "a lane alone puts nothing but events into streams"); }

  std::vector<PlanCapture::Call>& calls_;
  const DeviceInfo info_{};
  std::int32_t streams_ = 0;
  std::int32_t events_ = 0;
};

/// Notes the launches of a lane among the calls.
class NotingClient final : public LaneClient {
 public:
  NotingClient(std::vector<PlanCapture::Call>& calls, std::vector<LaunchBatch>& batches)
      : calls_(calls), batches_(batches) {}

  void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override {
    calls_.push_back({PlanCapture::Call::Launch, static_cast<std::int32_t>(batches_.size()), 0});
    LaunchBatch& batch = batches_.emplace_back(LaunchBatch{kind, {tasks.begin(), tasks.end()}, {}});
    for (const DeviceStream stream : streams) batch.streams.push_back(stream.number);
  }

 private:
  std::vector<PlanCapture::Call>& calls_;
  std::vector<LaunchBatch>& batches_;
};

/// The tasks and edges of one lane, for a device that nobody asks anything.
LanePlan ofOneLane(const LanePlan& plan) {
  LanePlan own{plan.tasks, plan.edges};
  for (LaneTask& task : own.tasks) task.reports = task.urgent = task.independentOfPeers = false;
  return own;
}

}  // namespace

PlanCapture::PlanCapture(DeviceBackend& device, const LanePlan& plan, const LaneOptions& options)
    : device_(device) {
  NotingDevice noting(calls_);
  NotingClient client(calls_, batches_);
  DeviceLane lane(noting, options);
  const std::unique_ptr<LaneWork> work = lane.prepare(ofOneLane(plan));
  const auto nothing = [](DeviceStream) {};
  lane.putBeside(nothing);  // what the other streams of the capture come after
  lane.begin(*work, client);
  if (!plan.tasks.empty()) lane.submit(0, static_cast<std::int32_t>(plan.tasks.size()));
  lane.serve([](std::int32_t) {});
  TESSERA_EXPECT(lane.allLaunched(), "give a lane a plan without a cycle");
  lane.putBeside(nothing);  // comes after all other streams
  for (std::int32_t n = 0; n < options.streams; ++n) streams_.push_back(device.makeStream());
  while (std::ssize(events_) < noting.eventCount()) events_.push_back(device.makeEvent());
}

DeviceGraph PlanCapture::capture(const Put& put) {
  device_.beginCapture(streams_.front());
  for (const Call& call : calls_) {
    if (call.kind == Call::Launch) {
      const auto batch = static_cast<std::size_t>(call.number);
      ofBatch_.clear();
      for (const std::int32_t stream : batches_[batch].streams) {
        ofBatch_.push_back(streams_[static_cast<std::size_t>(stream)]);
      }
      put(batch, ofBatch_);
      continue;
    }
    const DeviceEvent event = events_[static_cast<std::size_t>(call.number)];
    const DeviceStream stream = streams_[static_cast<std::size_t>(call.stream)];
    if (call.kind == Call::Record) {
      device_.record(event, stream);
    } else {
      device_.wait(stream, event);
    }
  }
  return device_.endCapture();
}

}  // namespace tessera
