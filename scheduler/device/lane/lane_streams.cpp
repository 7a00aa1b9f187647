#include "scheduler/device/lane/lane_streams.hpp"

#include <algorithm>

#include "core/transport/step_aside.hpp"

namespace tessera::detail {

LaneStreams::LaneStreams(DeviceBackend& device, std::int32_t count, LaneCounts& counts)
    : device_(device), counts_(counts), streams_(static_cast<std::size_t>(count)) {
  device_.bindThread();
  for (Stream& stream : streams_) {
    stream.handle = &stream == &streams_.back() ? device_.makeUrgentStream() : device_.makeStream();
    stream.waitedFor.assign(streams_.size(), 0);
  }
}

void LaneStreams::waitFor(std::int32_t stream, const LaunchPosition& place) {
  if (stream == place.stream) return;
  Stream& waiting = at(stream);
  if (waiting.waitedFor[static_cast<std::size_t>(place.stream)] >= place.launch) return;
  const Mark mark = markOf(place);
  if (mark.event.number < 0) return;
  device_.wait(waiting.handle, mark.event);
  ++counts_.waits;
  const std::span<const std::int64_t> known = knownTo(mark.slot);
  for (std::size_t n = 0; n < streams_.size(); ++n)
    waiting.waitedFor[n] = std::max(waiting.waitedFor[n], known[n]);
}

LaneStreams::Mark LaneStreams::markOf(const LaunchPosition& place) {
  Stream& stream = at(place.stream);
  if (stream.done >= place.launch) return {{}, place.launch, 0};
  // Mostly the last one.
  auto found = stream.marks.end();
  while (found != stream.marks.begin() && (found - 1)->covers >= place.launch) --found;
  if (found != stream.marks.end()) return *found;
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::int32_t>(events_.size()));
    events_.push_back(device_.makeEvent());
    known_.resize(known_.size() + streams_.size());
  }
  const std::int32_t slot = spare_.back();
  spare_.pop_back();
  const Mark mark{events_[static_cast<std::size_t>(slot)], stream.launched, slot};
  device_.record(mark.event, stream.handle);
  ++counts_.records;
  const std::span<std::int64_t> known = knownTo(slot);
  std::copy(stream.waitedFor.begin(), stream.waitedFor.end(), known.begin());
  known[static_cast<std::size_t>(place.stream)] = mark.covers;
  stream.marks.push_back(mark);
  return mark;
}

void LaneStreams::gather(std::int32_t but) {
  Stream& first = streams_.front();
  others_.clear();
  for (std::int32_t n = 1; n < size(); ++n) {
    if (n != but && at(n).launched > at(n).done) others_.push_back(n);
  }
  // Who comes after most of the others goes first: that may spare the rest. Counted before they are sorted,
  // since a list that is just being sorted does not hold each of them.
  for (const std::int32_t by : others_) {
    at(by).covers = std::count_if(others_.begin(), others_.end(), [&](std::int32_t of) {
      return at(by).waitedFor[static_cast<std::size_t>(of)] >= at(of).launched;
    });
  }
  std::sort(others_.begin(), others_.end(),
            [&](std::int32_t a, std::int32_t b) { return at(a).covers > at(b).covers; });
  const std::int64_t before = counts_.waits;
  for (const std::int32_t n : others_) waitFor(0, {n, at(n).launched});
  // A launch of nothing, so that what waits for the stream waits for these streams too.
  if (counts_.waits != before) ++first.launched;
}

void LaneStreams::noteMeeting(std::int32_t stream) {
  barrier_ = addLaunch(stream);
  // Now: it is to cover no launch of the step.
  if (stream != 0) markOf(barrier_);
}

void LaneStreams::beginStep(std::int32_t ahead) {
  // Behind a meeting that has just been noted there is nothing new, and before it all was gathered.
  const bool isMet = barrier_.stream != 0 && isLast(barrier_);
  gather(isMet ? barrier_.stream : size());
  begin_ = streams_.front().launched;
  // Now, and not when another stream asks for it: it is to cover no launch of the step.
  markOf({0, begin_});
  begins_.push_back(begin_);
  if (std::ssize(begins_) <= ahead) return;
  const std::int64_t last = begins_.front();
  begins_.pop_front();
  StepAside stepAside;
  for (takeDone(0, last); streams_.front().done < last; takeDone(0, last)) stepAside();
}

bool LaneStreams::waitForPeer(std::int32_t stream, DeviceBackend& peer, std::size_t from, DeviceEvent event,
                              std::int64_t covers) {
  std::int64_t& waited = at(stream).waitedForPeers[from];
  if (waited >= covers) return false;
  device_.waitForPeer(at(stream).handle, peer, event);
  waited = covers;
  return true;
}

void LaneStreams::connect(std::size_t streams) {
  for (Stream& stream : streams_) stream.waitedForPeers.assign(streams, 0);
}

void LaneStreams::markWatched() {
  for (std::int32_t n = 0; n < size(); ++n) {
    if (!at(n).watched.empty()) markOf({n, at(n).watched.back().launch});
  }
}

/// Only the oldest event is asked for, and what it comes after is done with it. It is a call of the driver:
/// no more of them than are needed to know whether launch `until` is done.
void LaneStreams::takeDone(std::int32_t number, std::int64_t until) {
  Stream& stream = at(number);
  while (!stream.marks.empty()) {
    const Mark mark = stream.marks.front();
    if (mark.covers > stream.done) {
      if (stream.done >= until) return;
      ++counts_.queries;
      if (!device_.isDone(mark.event)) return;
      const std::span<const std::int64_t> known = knownTo(mark.slot);
      for (std::size_t n = 0; n < streams_.size(); ++n)
        streams_[n].done = std::max(streams_[n].done, known[n]);
    }
    spare_.push_back(mark.slot);
    stream.marks.pop_front();
  }
}

void LaneStreams::synchronize() {
  for (Stream& stream : streams_) {
    device_.synchronize(stream.handle);
    stream.done = stream.launched;
  }
}

}  // namespace tessera::detail
