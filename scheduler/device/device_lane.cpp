#include "scheduler/device/device_lane.hpp"

#include <algorithm>
#include <string>

#include "core/contracts.hpp"

namespace tessera {

namespace {

/// Lists of `to` by `from`, one after the other; `begin` has one entry more than there are lists.
void makeLists(std::span<const std::pair<std::int32_t, std::int32_t>> pairs, bool backwards,
               std::vector<std::int32_t>& lists, std::vector<std::int32_t>& begin) {
  lists.resize(pairs.size());
  for (const auto& [first, then] : pairs) ++begin[static_cast<std::size_t>(backwards ? then : first) + 1];
  for (std::size_t n = 1; n < begin.size(); ++n) begin[n] += begin[n - 1];
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [first, then] : pairs) {
    lists[static_cast<std::size_t>(next[static_cast<std::size_t>(backwards ? then : first)]++)] =
        backwards ? first : then;
  }
}

}  // namespace

DeviceLane::DeviceLane(DeviceBackend& device, const LanePlan& plan, LaneClient& client,
                       const LaneOptions& options)
    : device_(device),
      client_(client),
      options_(options),
      tasks_(plan.tasks),
      successorBegin_(plan.tasks.size() + 1, 0),
      predecessorBegin_(plan.tasks.size() + 1, 0),
      submitted_(plan.tasks.size()),
      running_(plan.tasks.size(), 0) {
  device_.bindThread();
  makeLists(plan.edges, false, successors_, successorBegin_);
  makeLists(plan.edges, true, predecessors_, predecessorBegin_);
  std::int32_t places = 0;
  std::int32_t kinds = 0;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    TESSERA_EXPECT(tasks_[n].streams >= 1 && tasks_[n].streams <= options_.streams,
                   "give each task at least one stream and at most those of the lane");
    placeBegin_.push_back(places);
    places += tasks_[n].streams;
    kinds = std::max(kinds, tasks_[n].kind + 1);
    missing_.push_back(1 + predecessorBegin_[n + 1] - predecessorBegin_[n]);
  }
  placeBegin_.push_back(places);
  places_.resize(static_cast<std::size_t>(places));
  ready_.resize(static_cast<std::size_t>(kinds));
  for (std::int32_t n = 0; n < options_.streams; ++n) {
    Stream& stream = streams_.emplace_back();
    stream.handle = device_.makeStream();
    stream.waitedFor.assign(static_cast<std::size_t>(options_.streams), 0);
  }
}

std::span<DeviceLane::Place> DeviceLane::placesOf(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  return std::span(places_).subspan(static_cast<std::size_t>(placeBegin_[n]),
                                    static_cast<std::size_t>(tasks_[n].streams));
}

bool DeviceLane::advance() {
  const std::int64_t before = counts_.launches;
  ended_.clear();
  device_.bindThread();
  takeSubmitted();
  // The ends of before first: without chaining they make tasks ready.
  const bool someEnded = poll();
  launchReady();
  markWatched();
  return someEnded || counts_.launches != before;
}

void DeviceLane::takeSubmitted() {
  submitted_.takeAll([this](std::int32_t task) { release(task); });
}

void DeviceLane::release(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  if (--missing_[n] > 0) return;
  missing_[n] = 1 + predecessorBegin_[n + 1] - predecessorBegin_[n];
  ready_[static_cast<std::size_t>(tasks_[n].kind)].push_back(task);
}

void DeviceLane::launchReady() {
  // Launching a kind can make tasks ready of any other, until there are none.
  for (bool any = true; any;) {
    any = false;
    for (std::size_t kind = 0; kind < ready_.size(); ++kind) {
      if (ready_[kind].empty()) continue;
      any = true;
      batch_.clear();
      batch_.swap(ready_[kind]);
      // In the order of the plan: neighbours in memory are neighbours in a launch, whoever was submitted
      // first.
      std::sort(batch_.begin(), batch_.end());
      const auto largest = static_cast<std::size_t>(options_.largestBatch);
      for (std::size_t begin = 0; begin < batch_.size(); begin += largest) {
        const std::size_t size = std::min(largest, batch_.size() - begin);
        launchBatch(static_cast<std::int32_t>(kind), std::span(batch_).subspan(begin, size));
      }
    }
  }
}

void DeviceLane::launchBatch(std::int32_t kind, std::span<const std::int32_t> tasks) {
  const std::int32_t parts = tasks_[static_cast<std::size_t>(tasks.front())].streams;
  chooseStreams(tasks, parts);
  if (options_.chainsOnDevice) {
    for (const std::int32_t task : tasks) waitForPredecessors(task);
  }
  handles_.clear();
  for (const std::int32_t number : chosen_) {
    Stream& stream = streams_[static_cast<std::size_t>(number)];
    ++stream.launched;
    handles_.push_back(stream.handle);
  }
  client_.launch(kind, tasks, handles_);
  ++counts_.launches;
  counts_.tasks += static_cast<std::int64_t>(tasks.size());
  for (const std::int32_t task : tasks) noteLaunched(task);
}

void DeviceLane::chooseStreams(std::span<const std::int32_t> tasks, std::int32_t parts) {
  chosen_.clear();
  // A chain stays in its stream, where order costs nothing, if nothing else has been put there since.
  const auto first = static_cast<std::size_t>(tasks.front());
  if (parts == 1 && predecessorBegin_[first] != predecessorBegin_[first + 1]) {
    const std::int32_t before = predecessors_[static_cast<std::size_t>(predecessorBegin_[first])];
    const Place place = placesOf(before).front();
    if (streams_[static_cast<std::size_t>(place.stream)].launched == place.launch) {
      chosen_.push_back(place.stream);
      return;
    }
  }
  for (std::int32_t part = 0; part < parts; ++part) {
    chosen_.push_back(nextStream_);
    nextStream_ = (nextStream_ + 1) % options_.streams;
  }
}

void DeviceLane::waitForPredecessors(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  for (std::int32_t at = predecessorBegin_[n]; at < predecessorBegin_[n + 1]; ++at) {
    for (const Place& place : placesOf(predecessors_[static_cast<std::size_t>(at)])) {
      for (const std::int32_t number : chosen_) waitFor(streams_[static_cast<std::size_t>(number)], place);
    }
  }
}

void DeviceLane::waitFor(Stream& stream, const Place& place) {
  Stream& other = streams_[static_cast<std::size_t>(place.stream)];
  std::int64_t& waited = stream.waitedFor[static_cast<std::size_t>(place.stream)];
  if (&other == &stream || other.done >= place.launch || waited >= place.launch) return;
  const Mark mark = markOf(other, place.launch);
  device_.wait(stream.handle, mark.event);
  ++counts_.waits;
  waited = mark.covers;
}

/// The first recorded event behind that launch; recorded now where there is none.
DeviceLane::Mark DeviceLane::markOf(Stream& stream, std::int64_t launch) {
  const auto found = std::lower_bound(stream.marks.begin(), stream.marks.end(), launch,
                                      [](const Mark& mark, std::int64_t n) { return mark.covers < n; });
  if (found != stream.marks.end()) return *found;
  if (spareEvents_.empty()) spareEvents_.push_back(device_.makeEvent());
  const Mark mark{spareEvents_.back(), stream.launched};
  spareEvents_.pop_back();
  device_.record(mark.event, stream.handle);
  ++counts_.records;
  stream.marks.push_back(mark);
  return mark;
}

void DeviceLane::noteLaunched(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  const bool hasSuccessors = successorBegin_[n] != successorBegin_[n + 1];
  const bool watched = tasks_[n].reports || (hasSuccessors && !options_.chainsOnDevice);
  const std::span<Place> places = placesOf(task);
  for (std::size_t part = 0; part < places.size(); ++part) {
    Stream& stream = streams_[static_cast<std::size_t>(chosen_[part])];
    places[part] = {chosen_[part], stream.launched};
    if (watched) stream.watched.push_back({stream.launched, task});
  }
  if (watched) running_[n] = tasks_[n].streams;
  if (options_.chainsOnDevice) releaseSuccessors(task);
}

void DeviceLane::releaseSuccessors(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  for (std::int32_t at = successorBegin_[n]; at < successorBegin_[n + 1]; ++at) {
    release(successors_[static_cast<std::size_t>(at)]);
  }
}

void DeviceLane::markWatched() {
  // One event for all that was launched since the last look.
  for (Stream& stream : streams_) {
    if (!stream.watched.empty()) markOf(stream, stream.watched.back().launch);
  }
}

bool DeviceLane::poll() {
  const std::size_t before = ended_.size();
  bool chained = false;
  for (Stream& stream : streams_) {
    while (!stream.marks.empty()) {
      ++counts_.queries;
      if (!device_.isDone(stream.marks.front().event)) break;
      stream.done = stream.marks.front().covers;
      spareEvents_.push_back(stream.marks.front().event);
      stream.marks.pop_front();
    }
    while (!stream.watched.empty() && stream.watched.front().launch <= stream.done) {
      const std::int32_t task = stream.watched.front().task;
      stream.watched.pop_front();
      chained = true;
      endPart(task);
    }
  }
  return chained || ended_.size() != before;
}

void DeviceLane::endPart(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  if (--running_[n] > 0) return;
  if (tasks_[n].reports) ended_.push_back(task);
  if (!options_.chainsOnDevice) releaseSuccessors(task);
}

std::vector<std::int32_t> DeviceLane::begun() const {
  std::vector<std::int32_t> tasks;
  for (std::size_t n = 0; n < running_.size(); ++n) {
    if (running_[n] > 0) tasks.push_back(static_cast<std::int32_t>(n));
  }
  return tasks;
}

}  // namespace tessera
