#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/profile/nvtx_ranges.hpp"
#include "scheduler/device/backend/device_timeline.hpp"

namespace tessera {

/// Who hears of the launches of a plan on one device: a trace, a profiler that listens to NVTX, both or
/// nobody. Names are registered once, when the plan is made ready:
///
///   LaunchWatch watch(timeline, nvtx);                             // either may be null
///   const std::int32_t advance = watch.add("Heat::advance", DeviceWork::Kernel);
///   {
///     LaunchScope scope(watch, advance, streams, tasks);           // around the launch alone
///     device.launch(...);
///   }
///
/// Threads: `add` by one at a time, scopes by the one who may call the device.
class LaunchWatch {
 public:
  /// What is given outlives the object.
  LaunchWatch(DeviceTimeline* timeline, NvtxRanges* nvtx) : timeline_(timeline), nvtx_(nvtx) {}

  /// The number of a kind of launch, counted from 0.
  std::int32_t add(const std::string& name, DeviceWork work);

 private:
  friend class LaunchScope;
  struct Kind {
    std::string_view name;  ///< for the trace
    DeviceWork work = DeviceWork::Kernel;
    NvtxRanges::Name range = nullptr;
  };

  DeviceTimeline* timeline_;
  NvtxRanges* nvtx_;
  std::vector<Kind> kinds_;
};

/// In its lifetime the calling thread puts launches of one kind, which do `tasks` nodes of the graph, into
/// `streams`, which outlive it: a span of each stream in the trace, a range of the thread for a profiler,
/// shown with the number of tasks. Costs two branches where nobody hears.
class LaunchScope {
 public:
  LaunchScope(LaunchWatch& watch, std::int32_t kind, std::span<const DeviceStream> streams,
              std::int64_t tasks)
      : timeline_(watch.timeline_), nvtx_(watch.nvtx_), streams_(streams) {
    if (timeline_ != nullptr || nvtx_ != nullptr) open(watch.kinds_[static_cast<std::size_t>(kind)], tasks);
  }
  ~LaunchScope() {
    if (timeline_ != nullptr || nvtx_ != nullptr) close();
  }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

  /// What is launched carries that much from one place to another.
  void carries(std::int64_t bytes) { bytes_ += bytes; }

 private:
  void open(const LaunchWatch::Kind& kind, std::int64_t tasks);
  void close() noexcept;

  DeviceTimeline* timeline_;
  NvtxRanges* nvtx_;
  std::span<const DeviceStream> streams_;
  std::int64_t bytes_ = 0;
};

}  // namespace tessera
