#include "scheduler/device/lane/plan_capture.hpp"

namespace tessera {

PlanCapture::PlanCapture(DeviceBackend& device, const LanePlan& plan, const LaneOptions& options)
    : device_(device),
      batches_(dealOut(launchOrder(plan, options.largestBatch), options.streams)),
      fork_(device.makeEvent()) {
  for (const StreamedBatch& entry : batches_) {
    std::vector<DeviceEvent>& events = events_.emplace_back();
    while (events.size() < entry.streams.size()) events.push_back(device.makeEvent());
  }
  for (std::int32_t n = 0; n < options.streams; ++n) streams_.push_back(device.makeStream());
}

DeviceGraph PlanCapture::capture(const Put& put) {
  device_.beginCapture(streams_.front());
  entered_.assign(streams_.size(), 0);
  entered_.front() = 1;
  device_.record(fork_, streams_.front());
  for (std::size_t n = 0; n < batches_.size(); ++n) captureBatch(n, put);
  for (std::size_t n = 0; n < batches_.size(); ++n) {
    for (std::size_t part = 0; part < events_[n].size(); ++part) {
      if (batches_[n].streams[part] != 0) device_.wait(streams_.front(), events_[n][part]);
    }
  }
  return device_.endCapture();
}

/// The stream becomes one of the capture.
void PlanCapture::enter(std::size_t stream) {
  if (entered_[stream] == 0) device_.wait(streams_[stream], fork_);
  entered_[stream] = 1;
}

void PlanCapture::captureBatch(std::size_t n, const Put& put) {
  const StreamedBatch& entry = batches_[n];
  ofBatch_.clear();
  for (const std::int32_t number : entry.streams) {
    const auto stream = static_cast<std::size_t>(number);
    enter(stream);
    ofBatch_.push_back(streams_[stream]);
    for (const std::int32_t before : entry.batch.after) {
      const auto b = static_cast<std::size_t>(before);
      for (std::size_t part = 0; part < events_[b].size(); ++part) {
        if (batches_[b].streams[part] != number) device_.wait(streams_[stream], events_[b][part]);
      }
    }
  }
  put(n, ofBatch_);
  for (std::size_t part = 0; part < ofBatch_.size(); ++part) device_.record(events_[n][part], ofBatch_[part]);
}

}  // namespace tessera
