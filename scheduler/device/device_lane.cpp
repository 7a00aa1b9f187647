#include "scheduler/device/device_lane.hpp"

#include <algorithm>
#include <string>

#include "core/contracts.hpp"
#include "core/step_aside.hpp"

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

std::span<const std::int32_t> listOf(const std::vector<std::int32_t>& lists,
                                     const std::vector<std::int32_t>& begin, std::int32_t n) {
  const auto first = static_cast<std::size_t>(begin[static_cast<std::size_t>(n)]);
  const auto end = static_cast<std::size_t>(begin[static_cast<std::size_t>(n) + 1]);
  return std::span(lists).subspan(first, end - first);
}

}  // namespace

LaneWork::LaneWork(const LanePlan& plan, const LaneOptions& options)
    : tasks_(plan.tasks),
      successorBegin_(plan.tasks.size() + 1, 0),
      predecessorBegin_(plan.tasks.size() + 1, 0),
      peerEdges_(plan.peerEdges),
      peerPredecessors_(plan.peerPredecessors),
      submitted_(plan.tasks.size()),
      running_(plan.tasks.size(), 0) {
  makeLists(plan.edges, false, successors_, successorBegin_);
  makeLists(plan.edges, true, predecessors_, predecessorBegin_);
  std::int32_t places = 0;
  std::int32_t kinds = 0;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    TESSERA_EXPECT(tasks_[n].streams >= 1 && tasks_[n].streams <= options.streams,
                   "give each task at least one stream and at most those of the lane");
    TESSERA_EXPECT(!tasks_[n].urgent || tasks_[n].streams == 1, "give an urgent task one stream");
    hasUrgent_ = hasUrgent_ || tasks_[n].urgent;
    placeBegin_.push_back(places);
    places += tasks_[n].streams;
    kinds = std::max(kinds, tasks_[n].kind + 1);
    missing_.push_back(countsOf(static_cast<std::int32_t>(n)));
  }
  placeBegin_.push_back(places);
  places_.resize(static_cast<std::size_t>(places));
  ready_.resize(static_cast<std::size_t>(kinds));
}

std::span<LaneWork::Place> LaneWork::placesOf(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  return std::span(places_).subspan(static_cast<std::size_t>(placeBegin_[n]),
                                    static_cast<std::size_t>(tasks_[n].streams));
}

std::span<const std::int32_t> LaneWork::successors(std::int32_t task) const {
  return listOf(successors_, successorBegin_, task);
}

std::span<const std::int32_t> LaneWork::predecessors(std::int32_t task) const {
  return listOf(predecessors_, predecessorBegin_, task);
}

DeviceLane::DeviceLane(DeviceBackend& device, const LaneOptions& options)
    : device_(device), options_(options) {
  device_.bindThread();
  streams_.resize(static_cast<std::size_t>(options_.streams) + 1);
  for (Stream& stream : streams_) {
    stream.handle = &stream == &streams_.back() ? device_.makeUrgentStream() : device_.makeStream();
    stream.waitedFor.assign(streams_.size(), 0);
  }
}

DeviceLane::DeviceLane(DeviceBackend& device, const LanePlan& plan, LaneClient& client,
                       const LaneOptions& options)
    : DeviceLane(device, options) {
  ownWork_ = prepare(plan);
  begin(*ownWork_, client);
}

std::unique_ptr<LaneWork> DeviceLane::prepare(const LanePlan& plan) const {
  return std::make_unique<LaneWork>(plan, options_);
}

void DeviceLane::begin(LaneWork& work, LaneClient& client) {
  const Leave leave{takeOver()};
  TESSERA_EXPECT(work_ == nullptr || allLaunched(), "begin a plan when all tasks of the last are launched");
  TESSERA_EXPECT(work.arrivals_.has_value() || (work.peerEdges_.empty() && work.peerPredecessors_.empty()),
                 "join the works of all lanes before one with edges to others is begun");
  device_.bindThread();
  if (work.taskCount() > 0) {  // else nothing comes after anything, and no event has to be asked for
    fence(work.hasUrgent_);
    boundLead();
  }
  work_ = &work;
  client_ = &client;
  work.launched_.store(0, std::memory_order_release);
}

void DeviceLane::boundLead() {
  if (spareEvents_.empty()) spareEvents_.push_back(device_.makeEvent());
  begins_.push_back(spareEvents_.back());
  spareEvents_.pop_back();
  device_.record(begins_.back(), streams_.front().handle);
  if (std::ssize(begins_) <= options_.stepsAhead) return;
  StepAside stepAside;
  while (!device_.isDone(begins_.front())) stepAside();
  spareEvents_.push_back(begins_.front());
  begins_.pop_front();
}

void DeviceLane::synchronize() {
  const Leave leave{takeOver()};
  device_.bindThread();
  for (const Stream& stream : streams_) device_.synchronize(stream.handle);
}

std::atomic<bool>& DeviceLane::takeOver() {
  StepAside stepAside;
  while (serving_.exchange(true, std::memory_order_acquire)) stepAside();
  return serving_;
}

/// All that is put into any stream, the urgent one only if asked for, from now on comes after all that is in
/// the others.
void DeviceLane::fence(bool urgentToo) {
  const std::span<Stream> waiting = std::span(streams_).first(streams_.size() - (urgentToo ? 0 : 1));
  for (std::int32_t from = 0; from < std::ssize(streams_); ++from) {
    const std::int64_t last = streams_[static_cast<std::size_t>(from)].launched;
    for (Stream& stream : waiting) waitFor(stream, {from, last});
  }
}

bool DeviceLane::advance() {
  ended_.clear();
  if (work_ == nullptr) return false;
  const std::int64_t before = counts_.launches;
  device_.bindThread();
  const auto come = [this](std::int32_t task) { release(task); };
  work_->submitted_.takeAll(come);
  // What comes from other lanes before this one has begun waits.
  if (work_->arrivals_ && !allLaunched()) work_->arrivals_->takeAll(come);
  // The ends of before first: without chaining they make tasks ready.
  const bool someEnded = poll();
  launchReady();
  markWatched();
  return someEnded || counts_.launches != before;
}

void DeviceLane::release(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  LaneWork& work = *work_;
  if (--work.missing_[n] > 0) return;
  work.missing_[n] = work.countsOf(task);
  work.ready_[static_cast<std::size_t>(work.tasks_[n].kind)].push_back(task);
}

void DeviceLane::launchReady() {
  // Launching a kind can make tasks ready of any other, until there are none.
  std::vector<std::vector<std::int32_t>>& ready = work_->ready_;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t kind = 0; kind < ready.size(); ++kind) {
      if (ready[kind].empty()) continue;
      any = true;
      batch_.clear();
      batch_.swap(ready[kind]);
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
  const std::int32_t parts = work_->tasks_[static_cast<std::size_t>(tasks.front())].streams;
  chooseStreams(tasks, parts);
  if (options_.chainsOnDevice) {
    for (const std::int32_t task : tasks) waitForPredecessors(task);
  }
  for (const std::int32_t task : tasks) waitForPeers(task);
  handles_.clear();
  for (const std::int32_t number : chosen_) {
    Stream& stream = streams_[static_cast<std::size_t>(number)];
    ++stream.launched;
    handles_.push_back(stream.handle);
  }
  client_->launch(kind, tasks, handles_);
  ++counts_.launches;
  counts_.tasks += static_cast<std::int64_t>(tasks.size());
  for (const std::int32_t task : tasks) noteLaunched(task);
  work_->launched_.fetch_add(static_cast<std::int64_t>(tasks.size()), std::memory_order_release);
}

void DeviceLane::chooseStreams(std::span<const std::int32_t> tasks, std::int32_t parts) {
  chosen_.clear();
  if (options_.urgentStream && work_->tasks_[static_cast<std::size_t>(tasks.front())].urgent) {
    chosen_.push_back(options_.streams);
    return;
  }
  // A chain stays in its stream, where order costs nothing, if nothing else has been put there since.
  const std::span<const std::int32_t> before = work_->predecessors(tasks.front());
  if (parts == 1 && !before.empty()) {
    const Place place = work_->placesOf(before.front()).front();
    const Stream& stream = streams_[static_cast<std::size_t>(place.stream)];
    if (place.stream < options_.streams && stream.launched == place.launch) {
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
  for (const std::int32_t before : work_->predecessors(task)) {
    for (const Place& place : work_->placesOf(before)) {
      for (const std::int32_t number : chosen_) waitFor(streams_[static_cast<std::size_t>(number)], place);
    }
  }
}

bool DeviceLane::waitFor(Stream& stream, const Place& place) {
  Stream& other = streams_[static_cast<std::size_t>(place.stream)];
  std::int64_t& waited = stream.waitedFor[static_cast<std::size_t>(place.stream)];
  if (&other == &stream || other.done >= place.launch || waited >= place.launch) return false;
  const Mark mark = markOf(other, place.launch);
  device_.wait(stream.handle, mark.event);
  ++counts_.waits;
  waited = mark.covers;
  return true;
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
  LaneWork& work = *work_;
  const bool hasSuccessors = !work.successors(task).empty() || !work.toldOf(task).empty();
  const bool watched = work.tasks_[n].reports || (hasSuccessors && !options_.chainsOnDevice);
  const std::span<Place> places = work.placesOf(task);
  for (std::size_t part = 0; part < places.size(); ++part) {
    Stream& stream = streams_[static_cast<std::size_t>(chosen_[part])];
    places[part] = {chosen_[part], stream.launched};
    if (watched) stream.watched.push_back({stream.launched, task});
  }
  if (watched) work.running_[n] = work.tasks_[n].streams;
  if (options_.chainsOnDevice) releaseSuccessors(task);
}

void DeviceLane::releaseSuccessors(std::int32_t task) {
  for (const std::int32_t next : work_->successors(task)) release(next);
  tellPeers(task);
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
  if (--work_->running_[n] > 0) return;
  if (work_->tasks_[n].reports) ended_.push_back(task);
  if (!options_.chainsOnDevice) releaseSuccessors(task);
}

std::vector<std::int32_t> DeviceLane::begun() const {
  std::vector<std::int32_t> tasks;
  if (work_ == nullptr) return tasks;
  for (std::size_t n = 0; n < work_->running_.size(); ++n) {
    if (work_->running_[n] > 0) tasks.push_back(static_cast<std::int32_t>(n));
  }
  return tasks;
}

}  // namespace tessera
