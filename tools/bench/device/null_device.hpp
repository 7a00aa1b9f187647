#pragma once

#include <cstdlib>

#include "core/text/contracts.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::bench {

/// A device that does nothing and is always done, so that what a lane itself costs the host can be measured.
class NullDevice final : public DeviceBackend {
 public:
  const DeviceInfo& info() const override { return info_; }
  void bindThread() override {}
  DeviceStream makeStream() override { return {streams_++}; }
  DeviceStream makeUrgentStream() override { return {streams_++}; }
  DeviceEvent makeEvent() override { return {events_++}; }
  DeviceEvent makeTimedEvent() override { return {events_++}; }
  void record(DeviceEvent, DeviceStream) override {}
  bool isDone(DeviceEvent) override { return true; }
  double secondsBetween(DeviceEvent, DeviceEvent) override { return 0.0; }
  void wait(DeviceStream, DeviceEvent) override {}
  void waitForPeer(DeviceStream, DeviceBackend&, DeviceEvent) override {}
  void synchronize(DeviceStream) override {}
  void copy(DeviceStream, CopyDirection, void*, const void*, std::int64_t) override {}
  void fill(DeviceStream, void*, std::uint8_t, std::int64_t) override {}
  void launch(DeviceStream, const DeviceLaunch&) override {}
  void beginCapture(DeviceStream) override {}
  DeviceGraph endCapture() override { return {0}; }
  void launchGraph(DeviceStream, DeviceGraph, const char*) override {}
  void releaseGraph(DeviceGraph) noexcept override {}
  void* allocate(DeviceSpace, std::int64_t bytes) override {
    return std::malloc(static_cast<std::size_t>(bytes));
  }
  void release(DeviceSpace, void* memory) noexcept override { std::free(memory); }
  std::unique_ptr<DeviceAddresses> makeAddresses(std::int64_t, std::int64_t) override {
    TESSERA_EXPECT(false, "ask a device that has memory for addresses");
    return nullptr;
  }
  void pin(void*, std::int64_t) override {}
  void unpin(void*) noexcept override {}
  std::int64_t pinnedBytes() const override { return 0; }
  bool enablePeer(DeviceBackend&) override { return true; }

 private:
  const DeviceInfo info_{};
  std::int32_t streams_ = 0;
  std::int32_t events_ = 0;
};

}  // namespace tessera::bench
