#include "scheduler/device/lane/launch_profiler.hpp"

#include "core/text/error.hpp"

namespace tessera {

std::int32_t LaunchProfiler::add(const std::string& name, DeviceWork work) {
  Kind& kind = kinds_.emplace_back();
  kind.work = work;
  if (recorder_ != nullptr) kind.name = recorder_->lasting(name);
  if (nvtx_ != nullptr) kind.range = nvtx_->name(name);
  return static_cast<std::int32_t>(kinds_.size()) - 1;
}

void LaunchScope::open(const LaunchProfiler::Kind& kind, std::int64_t tasks) {
  if (nvtx_ != nullptr) nvtx_->push(kind.range, tasks);
  if (recorder_ == nullptr) return;
  LaunchNote note{.name = kind.name, .work = kind.work, .tasks = tasks};
  for (const DeviceStream stream : streams_) {
    recorder_->open(stream, note);
    ++note.part;
  }
}

void LaunchScope::close() noexcept {
  try {
    if (recorder_ != nullptr) {
      for (const DeviceStream stream : streams_) {
        recorder_->close(stream, bytes_);
        bytes_ = 0;
      }
    }
  } catch (const Error&) {
    recorder_ = nullptr;  // the device is lost: the lane's next call says so
  }
  if (nvtx_ != nullptr) nvtx_->pop();
}

}  // namespace tessera
