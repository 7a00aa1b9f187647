#include "scheduler/tracing/device_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kTieEvery = 250'000'000;
constexpr int kTriesOfTie = 5;
/// Clocks drift apart by no more than that: a moment that is known worse than the old tie tells it is no
/// gain.
constexpr double kMostDrift = 5e-5;
/// Reading the times of so many takes some milliseconds.
constexpr std::int64_t kManyPending = 4096;

}  // namespace

DeviceTimeline::DeviceTimeline(DeviceBackend& device, Trace& trace)
    : device_(device), trace_(trace), stream_(device.makeStream()) {
  device_.bindThread();
  ties_.push_back(measure());
  tiedAt_ = trace_.now();
  trace_.addSource(*this);
}

DeviceTimeline::~DeviceTimeline() {
  trace_.removeSource(*this);
  giveAll();
}

DeviceEvent DeviceTimeline::takeEvent() {
  if (spareEvents_.empty()) return device_.makeTimedEvent();
  const DeviceEvent event = spareEvents_.back();
  spareEvents_.pop_back();
  return event;
}

/// The event is reached between the two looks at the clock. The closest pair of some tells it best.
DeviceTimeline::Tie DeviceTimeline::measure() {
  Tie best;
  best.error = std::numeric_limits<std::int64_t>::max();
  for (int n = 0; n < kTriesOfTie; ++n) {
    Tie tie;
    tie.event = takeEvent();
    const std::int64_t before = trace_.now();
    device_.record(tie.event, stream_);
    device_.synchronize(stream_);
    tie.error = (trace_.now() - before + 1) / 2;
    tie.at = before + tie.error;
    if (tie.error < best.error) std::swap(tie, best);
    if (tie.event.number >= 0) spareEvents_.push_back(tie.event);
  }
  return best;
}

void DeviceTimeline::renewTie() {
  const Tie tie = measure();
  const Tie& old = ties_.back();
  tiedAt_ = trace_.now();
  const auto drift = static_cast<std::int64_t>(kMostDrift * static_cast<double>(tie.at - old.at));
  if (tie.error > old.error + drift) {
    spareEvents_.push_back(tie.event);
    return;
  }
  ties_.push_back(tie);
  for (; ties_.size() > 1 && ties_.front().users == 0; ++firstTie_) {
    spareEvents_.push_back(ties_.front().event);
    ties_.pop_front();
  }
}

void DeviceTimeline::beforeStep() {
  device_.bindThread();
  if (pending_ >= kManyPending) {
    const SpanOf span(&trace_, "read the times of a device");
    collect();
  }
  if (trace_.now() - tiedAt_ >= kTieEvery) renewTie();
}

DeviceTimeline::Lane& DeviceTimeline::laneOf(DeviceStream stream) {
  const auto number = static_cast<std::size_t>(stream.number);
  if (number >= lanes_.size()) lanes_.resize(number + 1);
  return lanes_[number];
}

void DeviceTimeline::open(DeviceStream stream, const LaunchNote& note) {
  Lane& lane = laneOf(stream);
  TESSERA_EXPECT(lane.pending.empty() || lane.pending.back().isClosed, "close one span before the next");
  Pending& span = lane.pending.emplace_back();
  ++pending_;
  span.what = note;
  span.run = trace_.lastRun();
  span.tie = firstTie_ + std::ssize(ties_) - 1;
  ++ties_.back().users;
  span.begin = takeEvent();
  span.end = takeEvent();
  span.launchedAt = trace_.now();
  device_.record(span.begin, stream);
}

void DeviceTimeline::close(DeviceStream stream, std::int64_t bytes) {
  Lane& lane = laneOf(stream);
  TESSERA_EXPECT(!lane.pending.empty() && !lane.pending.back().isClosed, "open a span before it is closed");
  Pending& span = lane.pending.back();
  span.what.bytes += bytes;
  span.isClosed = true;
  device_.record(span.end, stream);
}

std::int64_t DeviceTimeline::timeOf(std::int64_t number, DeviceEvent event) {
  const Tie& from = tie(number);
  return from.at + std::llround(1e9 * device_.secondsBetween(from.event, event));
}

void DeviceTimeline::takeComplete(std::int32_t stream, Lane& lane) {
  while (!lane.pending.empty() && lane.pending.front().isClosed && device_.isDone(lane.pending.front().end)) {
    const Pending& from = lane.pending.front();
    DeviceSpan span{from.what, device_.info().number, stream, from.run, from.launchedAt, 0, 0};
    // What counts from two ties may seem to overlap by their errors.
    span.begin = std::max(lane.freeFrom, timeOf(from.tie, from.begin));
    span.end = std::max(span.begin, timeOf(from.tie, from.end));
    lane.freeFrom = span.end;
    complete_.push_back(span);
    --tie(from.tie).users;
    spareEvents_.push_back(from.begin);
    spareEvents_.push_back(from.end);
    lane.pending.pop_front();
    --pending_;
  }
}

std::int64_t DeviceTimeline::horizon() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Lane& lane : lanes_) {
    if (lane.pending.empty() || !device_.isDone(lane.pending.front().begin)) continue;
    const Pending& span = lane.pending.front();
    first = std::min(first, std::max(lane.freeFrom, timeOf(span.tie, span.begin)));
  }
  return first;
}

/// Spans that count from a new tie may seem to begin before others that have been given.
void DeviceTimeline::give(std::span<DeviceSpan> spans) {
  for (DeviceSpan& span : spans) {
    span.begin = lastGiven_ = std::max(span.begin, lastGiven_);
    span.end = std::max(span.begin, span.end);
  }
  trace_.add(spans);
}

/// First who is done, then who had begun: what begins in between does so after all that is done.
void DeviceTimeline::collect() {
  device_.bindThread();
  for (std::size_t n = 0; n < lanes_.size(); ++n) takeComplete(static_cast<std::int32_t>(n), lanes_[n]);
  const std::int64_t until = horizon();
  std::stable_sort(complete_.begin(), complete_.end(),
                   [](const DeviceSpan& a, const DeviceSpan& b) { return a.begin < b.begin; });
  const auto rest = std::find_if(complete_.begin(), complete_.end(),
                                 [until](const DeviceSpan& span) { return span.begin > until; });
  give(std::span(complete_).first(static_cast<std::size_t>(rest - complete_.begin())));
  complete_.erase(complete_.begin(), rest);
}

void DeviceTimeline::giveAll() {
  try {
    device_.bindThread();
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      if (!lanes_[n].pending.empty()) device_.synchronize({static_cast<std::int32_t>(n)});
    }
    collect();
  } catch (const Error&) {
    return;
  }
}

}  // namespace tessera
