#include "scheduler/device/lane/device_lane.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "core/transport/step_aside.hpp"

namespace tessera {

using detail::PeerArrivals;

DeviceLane::DeviceLane(DeviceBackend& device, const LaneOptions& options)
    : device_(device), options_(options), streams_(device, options.streams + 1, counts_) {}

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
  // Where nothing comes, nothing comes after anything, and no event has to be asked for.
  if (work.taskCount() > 0) streams_.beginStep(options_.stepsAhead);
  // What comes first goes into the stream that has nothing to wait for.
  nextStream_ = 0;
  work_ = &work;
  client_ = &client;
  work.begin();
}

void DeviceLane::synchronize() {
  const Leave leave{takeOver()};
  device_.bindThread();
  streams_.synchronize();
}

std::atomic<bool>& DeviceLane::takeOver() {
  StepAside stepAside;
  while (serving_.exchange(true, std::memory_order_acquire)) stepAside();
  return serving_;
}

bool DeviceLane::advance() {
  ended_.clear();
  if (work_ == nullptr) return false;
  const std::int64_t before = counts_.launches;
  device_.bindThread();
  const auto come = [this](std::int32_t task) { work_->arrive(task); };
  work_->submitted_.takeAll(come);
  // What comes from other lanes before this one has begun waits.
  if (work_->arrivals_ && !allLaunched()) work_->arrivals_->takeAll(come);
  const bool someEnded = streams_.poll([this](std::int32_t launch) { endPart(launch); });
  work_->settle();
  launchReady();
  streams_.markWatched();
  return someEnded || counts_.launches != before;
}

void DeviceLane::launchReady() {
  // Launching a kind can make tasks ready of any other, until there are none.
  for (bool any = true; any;) {
    any = false;
    for (std::size_t kind = 0; kind < work_->ready_.size(); ++kind) {
      if (work_->ready_[kind].empty()) continue;
      any = true;
      launchKind(static_cast<std::int32_t>(kind));
    }
  }
}

void DeviceLane::launchKind(std::int32_t kind) {
  LaneWork& work = *work_;
  std::vector<std::int32_t>& ready = work.ready_[static_cast<std::size_t>(kind)];
  // In the order of the plan: neighbours in memory are neighbours in a launch, whoever was submitted first.
  work.rising_.sort(ready);
  const auto first = static_cast<std::size_t>(work.ordered_);
  TESSERA_EXPECT(first + ready.size() <= work.order_.size(),
                 "begin a plan again before its tasks are submitted again");
  std::copy(ready.begin(), ready.end(), work.order_.begin() + work.ordered_);
  work.ordered_ += static_cast<std::int32_t>(ready.size());
  const std::span<const std::int32_t> tasks = std::span(work.order_).subspan(first, ready.size());
  ready.clear();
  const auto largest = static_cast<std::size_t>(options_.largestBatch);
  for (std::size_t begin = 0; begin < tasks.size(); begin += largest) {
    launchBatch(kind, tasks.subspan(begin, std::min(largest, tasks.size() - begin)));
  }
}

void DeviceLane::launchBatch(std::int32_t kind, std::span<const std::int32_t> tasks) {
  LaneWork& work = *work_;
  const std::span<const LaneWork::Before> before = work.placesBefore(tasks);
  chooseStreams(tasks, before);
  waitForBefore(before, work.tasks_[static_cast<std::size_t>(tasks.front())].independentOfPeers);
  if (work.arrivals_) waitForPeers(tasks);
  const auto number = static_cast<std::int32_t>(work.launches_.size());
  const auto begin = static_cast<std::int32_t>(tasks.data() - work.order_.data());
  work.launches_.push_back({begin, begin + static_cast<std::int32_t>(tasks.size()),
                            static_cast<std::int32_t>(work.positions_.size()),
                            static_cast<std::int32_t>(chosen_.size())});
  handles_.clear();
  for (const std::int32_t stream : chosen_) {
    work.positions_.push_back(streams_.addLaunch(stream));
    handles_.push_back(streams_.handle(stream));
  }
  client_->launch(kind, tasks, handles_);
  ++counts_.launches;
  counts_.tasks += static_cast<std::int64_t>(tasks.size());
  noteLaunched(tasks, number);
  work.launched_.store(work.launched_.load(std::memory_order_relaxed) + std::ssize(tasks),
                       std::memory_order_release);
}

void DeviceLane::chooseStreams(std::span<const std::int32_t> tasks,
                               std::span<const LaneWork::Before> before) {
  chosen_.clear();
  const LaneTask& task = work_->tasks_[static_cast<std::size_t>(tasks.front())];
  if (task.urgent) {
    chosen_.push_back(options_.streams);
    return;
  }
  // A chain stays in its stream, where order costs nothing, if nothing else has been put there since.
  for (const LaneWork::Before& last : before) {
    if (task.streams > 1 || last.place.stream >= options_.streams || !streams_.isLast(last.place)) continue;
    chosen_.push_back(last.place.stream);
    return;
  }
  for (std::int32_t part = 0; part < task.streams; ++part) {
    chosen_.push_back(nextStream_);
    nextStream_ = (nextStream_ + 1) % options_.streams;
  }
}

/// The latest launch first: what it comes after is known to be waited for, too.
void DeviceLane::waitForBefore(std::span<const LaneWork::Before> before, bool independentOfPeers) {
  for (const std::int32_t stream : chosen_) {
    for (const LaneWork::Before& last : before) streams_.waitFor(stream, last.place);
    streams_.waitForBegin(stream);
    if (!independentOfPeers) streams_.waitForBarrier(stream);
  }
}

void DeviceLane::noteLaunched(std::span<const std::int32_t> tasks, std::int32_t number) {
  LaneWork& work = *work_;
  for (const std::int32_t task : tasks) work.launchOf(task) = number;
  releaseSuccessors(tasks, number);
  if (std::none_of(tasks.begin(), tasks.end(), [this](std::int32_t task) { return reports(task); })) return;
  work.launch(number).running = static_cast<std::int32_t>(chosen_.size());
  for (const std::int32_t stream : chosen_) streams_.watch(stream, number);
}

/// Of tasks that rise, of this launch.
void DeviceLane::releaseSuccessors(std::span<const std::int32_t> tasks, std::int32_t launch) {
  LaneWork& work = *work_;
  // The lists of neighbours lie one behind the other.
  if (tasks.back() - tasks.front() == std::ssize(tasks) - 1) {
    work.follow(work.successors(tasks.front(), tasks.back()), launch);
  } else {
    for (const std::int32_t task : tasks) work.follow(work.successors(task), launch);
  }
  work.settle();
  for (std::size_t n = 0; work.arrivals_ && n < tasks.size(); ++n) {
    if ((work.flagsOf(tasks[n]) & LaneWork::kTells) != 0) tellPeers(tasks[n]);
  }
}

void DeviceLane::endPart(std::int32_t number) {
  LaneWork& work = *work_;
  LaneWork::Launch& launch = work.launch(number);
  if (--launch.running > 0) return;
  for (const std::int32_t task : work.tasksOf(launch)) {
    if (reports(task)) ended_.push_back(task);
  }
}

std::vector<std::int32_t> DeviceLane::begun() const {
  std::vector<std::int32_t> tasks;
  if (work_ == nullptr) return tasks;
  for (const LaneWork::Launch& launch : work_->launches_) {
    if (launch.running == 0) continue;
    for (const std::int32_t n : work_->tasksOf(launch)) {
      if (reports(n)) tasks.push_back(n);
    }
  }
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

void DeviceLane::connect(std::span<DeviceLane* const> lanes) {
  std::vector<Peer> peers;
  std::size_t streams = 0;
  for (DeviceLane* lane : lanes) {
    peers.push_back({&lane->device_, streams});
    streams += static_cast<std::size_t>(lane->streams_.size());
  }
  for (DeviceLane* lane : lanes) {
    lane->peers_ = peers;
    lane->streams_.connect(streams);
  }
}

/// Lets the streams of a launch wait for what its tasks wait for on other devices.
void DeviceLane::waitForPeers(std::span<const std::int32_t> tasks) {
  PeerArrivals& arrivals = *work_->arrivals_;
  for (const std::int32_t task : tasks) {
    if ((work_->flagsOf(task) & LaneWork::kHearsOf) == 0) continue;
    const std::int32_t first = arrivals.firstOf(task);
    for (std::int32_t entry = first; entry < first + arrivals.countOf(task); ++entry) {
      const Peer& peer =
          peers_[static_cast<std::size_t>(arrivals.edges()[static_cast<std::size_t>(entry)].lane)];
      for (const PeerArrivals::Mark& mark : arrivals.marks(entry)) {
        if (mark.event.number < 0) continue;
        const std::size_t from = peer.firstStream + static_cast<std::size_t>(mark.stream);
        for (const std::int32_t stream : chosen_) {
          if (streams_.waitForPeer(stream, *peer.device, from, mark.event, mark.covers)) ++counts_.peerWaits;
        }
      }
    }
  }
}

/// Hands a task that was launched to the lanes whose tasks wait for it.
void DeviceLane::tellPeers(std::int32_t task) {
  const std::span<const LaneWork::LaunchPosition> places =
      work_->positionsOf(work_->launch(work_->launchOf(task)));
  for (const LaneWork::Told& told : work_->toldOf(task)) {
    const std::span<PeerArrivals::Mark> marks = told.work->arrivals_->marks(told.entry);
    for (std::size_t part = 0; part < marks.size(); ++part) {
      const LaneWork::LaunchPosition& place = places[part];
      const detail::LaneStreams::Mark mark = streams_.markOf(place);
      marks[part] = {mark.event, place.stream, mark.covers};
    }
    told.work->arrivals_->give(told.entry);
  }
}

void DeviceLane::crossDeviceBarrier(std::span<DeviceLane* const> lanes, Barrier barrier) {
  struct LeaveAll {
    std::span<DeviceLane* const> lanes;
    ~LeaveAll() {
      for (DeviceLane* lane : lanes) lane->serving_.store(false, std::memory_order_release);
    }
  };
  if (lanes.size() < 2) return;
  for (DeviceLane* lane : lanes) lane->takeOver();
  const LeaveAll leave{lanes};
  // All events before the first wait: one behind a wait would have devices come one behind the other.
  std::vector<detail::LaneStreams::Mark> marks;
  for (DeviceLane* lane : lanes) {
    lane->device_.bindThread();
    lane->streams_.gather();
    marks.push_back(lane->streams_.lastOfFirst());
  }
  // The last stream is the one that a step comes to last.
  for (DeviceLane* lane : lanes)
    lane->comeAfter(marks, barrier == Barrier::All ? 0 : lane->options_.streams - 1);
}

/// Of the first streams of all lanes; in this stream.
void DeviceLane::comeAfter(std::span<const detail::LaneStreams::Mark> marks, std::int32_t stream) {
  TESSERA_EXPECT(marks.size() == peers_.size(), "bring together the lanes that are connected");
  device_.bindThread();
  bool waits = false;
  for (std::size_t n = 0; n < marks.size(); ++n) {
    const Peer& peer = peers_[n];
    if (peer.device == &device_ || marks[n].event.number < 0) continue;
    if (!streams_.waitForPeer(stream, *peer.device, peer.firstStream, marks[n].event, marks[n].covers))
      continue;
    ++counts_.peerWaits;
    waits = true;
  }
  if (waits) streams_.noteMeeting(stream);
}

}  // namespace tessera
