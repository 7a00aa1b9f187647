#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/lane/launch_profiler.hpp"
#include "scheduler/trace.hpp"

namespace tessera {

/// Records when one device did what, for a trace: one timed event before each launch and one behind it.
///
///   DeviceTimeline timeline(device, trace);                    // once
///   timeline.open(stream, {.name = name, .tasks = tasks});     // just before the launch
///   device.launch(stream, ...);
///   timeline.close(stream, 0);                                 // just behind it
///
/// The spans go to the trace when many have come together, before some step, and when it is flushed; a step
/// only records events, which are used again and again. How a span's times come about:
///
/// * Its begin and end, and those of others on this device: by the device's clock, to half a microsecond or
///   better. Where the stream was idle, a span begins when the stream is told to note the time, and so
///   contains the few microseconds until the launch itself has arrived.
/// * Against the host's clock: an event in a stream of its own is recorded and waited for, and was reached
///   between these two moments. Clocks drift apart, so that is repeated before the first step that begins
///   a quarter of a second later. `errorNanoseconds` is half the time between the two moments; the drift
///   comes on top of it.
///
/// Threads: `open` and `close` by the one inside the lane's `serve`; all else by the one that steps, between
/// steps. All throw DeviceError, but `giveAll` and the destructor do not: a device that fails then has told
/// it to somebody else.
class DeviceTimeline final : public TraceSource, public LaunchRecorder {
 public:
  /// Both outlive the object.
  DeviceTimeline(DeviceBackend& device, Trace& trace);
  /// Gives what is left to the trace.
  ~DeviceTimeline() override;
  DeviceTimeline(const DeviceTimeline&) = delete;
  DeviceTimeline& operator=(const DeviceTimeline&) = delete;

  /// Of launches: kept as long as the trace.
  std::string_view lasting(const std::string& name) override { return trace_.lasting(name); }

  /// Ties the device's clock to the trace's where that has become old. Waits for the device only then, some
  /// tens of microseconds.
  void beforeStep() override;
  void open(DeviceStream stream, const LaunchNote& note) override;
  void close(DeviceStream stream, std::int64_t bytes) override;

  /// Gives the trace the spans that are complete, but for those that began after one that is not. Does not
  /// wait.
  void collect();
  void giveAll() override;

  /// How far the device's times may be from the trace's, as of the last tie; see above.
  std::int64_t errorNanoseconds() const { return ties_.back().error; }

 private:
  /// A moment by both clocks.
  struct Tie {
    DeviceEvent event;
    std::int64_t at = 0;
    std::int64_t error = 0;
    std::int64_t users = 0;  ///< spans that count from it and have not been read
  };
  struct Pending {
    LaunchNote what;
    std::int64_t run = 0;
    std::int64_t launchedAt = 0;
    std::int64_t tie = 0;  ///< counted from the first that ever was
    DeviceEvent begin;
    DeviceEvent end;
    bool isClosed = false;
  };
  struct Lane {
    std::deque<Pending> pending;  ///< in the order of the stream
    std::int64_t freeFrom = 0;    ///< the end of its last complete span
  };

  Tie measure();
  void renewTie();
  std::int64_t timeOf(std::int64_t tie, DeviceEvent event);
  Tie& tie(std::int64_t number) { return ties_[static_cast<std::size_t>(number - firstTie_)]; }
  Lane& laneOf(DeviceStream stream);
  void takeComplete(std::int32_t stream, Lane& lane);
  /// No span that is still to come begins before.
  std::int64_t horizon();
  void give(std::span<DeviceSpan> spans);
  DeviceEvent takeEvent();

  DeviceBackend& device_;
  Trace& trace_;
  const DeviceStream stream_;  ///< for ties
  std::vector<Lane> lanes_;    ///< by stream
  std::vector<DeviceSpan> complete_;
  std::int64_t lastGiven_ = std::numeric_limits<std::int64_t>::min();  ///< begin
  std::int64_t pending_ = 0;                                           ///< spans in all lanes
  std::deque<Tie> ties_;
  std::int64_t firstTie_ = 0;
  std::int64_t tiedAt_ = 0;
  std::vector<DeviceEvent> spareEvents_;
};

}  // namespace tessera
