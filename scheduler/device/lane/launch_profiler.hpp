#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/nvtx_annotations.hpp"
#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/lane/device_span.hpp"

namespace tessera {

/// Records launches on one device, for a trace. Throws DeviceError.
class LaunchRecorder {
 public:
  virtual ~LaunchRecorder() = default;
  /// The same text, kept for as long as what is recorded.
  virtual std::string_view lasting(const std::string& name) = 0;
  /// What is put into `stream` until `close` is a span. `note.name` must last. One a stream at a time.
  virtual void open(DeviceStream stream, const LaunchNote& note) = 0;
  /// `bytes`: that turned out to be carried besides those of the note.
  virtual void close(DeviceStream stream, std::int64_t bytes) = 0;
};

/// Who hears of the launches of a plan on one device: a trace, a profiler that listens to NVTX, both or
/// nobody. Names are registered once, when the plan is made ready:
///
///   LaunchProfiler watch(recorder, nvtx);                             // either may be null
///   const std::int32_t advance = watch.add("Heat::advance", DeviceWork::Kernel);
///   {
///     LaunchScope scope(watch, advance, streams, tasks);           // around the launch alone
///     device.launch(...);
///   }
///
/// Threads: `add` by one at a time, scopes by the one who may call the device.
class LaunchProfiler {
 public:
  /// What is given outlives the object.
  LaunchProfiler(LaunchRecorder* recorder, NvtxAnnotations* nvtx) : recorder_(recorder), nvtx_(nvtx) {}

  /// The number of a kind of launch, counted from 0.
  std::int32_t add(const std::string& name, DeviceWork work);

 private:
  friend class LaunchScope;
  struct Kind {
    std::string_view name;  ///< for the trace
    DeviceWork work = DeviceWork::Kernel;
    NvtxAnnotations::Name range = nullptr;
  };

  LaunchRecorder* recorder_;
  NvtxAnnotations* nvtx_;
  std::vector<Kind> kinds_;
};

/// In its lifetime the calling thread puts launches of one kind, which do `tasks` nodes of the graph, into
/// `streams`, which outlive it: a span of each stream in the trace, a range of the thread for a profiler,
/// shown with the number of tasks. Costs two branches where nobody hears.
class LaunchScope {
 public:
  LaunchScope(LaunchProfiler& watch, std::int32_t kind, std::span<const DeviceStream> streams,
              std::int64_t tasks)
      : recorder_(watch.recorder_), nvtx_(watch.nvtx_), streams_(streams) {
    if (recorder_ != nullptr || nvtx_ != nullptr) open(watch.kinds_[static_cast<std::size_t>(kind)], tasks);
  }
  ~LaunchScope() {
    if (recorder_ != nullptr || nvtx_ != nullptr) close();
  }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

  /// What is launched carries that much from one place to another.
  void carries(std::int64_t bytes) { bytes_ += bytes; }

 private:
  void open(const LaunchProfiler::Kind& kind, std::int64_t tasks);
  void close() noexcept;

  LaunchRecorder* recorder_;
  NvtxAnnotations* nvtx_;
  std::span<const DeviceStream> streams_;
  std::int64_t bytes_ = 0;
};

}  // namespace tessera
