#include "scheduler/device/lane_work.hpp"

#include <algorithm>
#include <utility>

#include "core/contracts.hpp"
#include "scheduler/device/detail/junctions.hpp"

namespace tessera {

LaneWork::LaneWork(const LanePlan& plan, const LaneOptions& options)
    : tasks_(plan.tasks),
      peerEdges_(plan.peerEdges),
      peerPredecessors_(plan.peerPredecessors),
      submitted_(plan.tasks.size()),
      rising_(plan.tasks.size()),
      order_(plan.tasks.size()) {
  std::int32_t kinds = 0;
  for (const LaneTask& task : tasks_) {
    TESSERA_EXPECT(task.streams >= 1 && task.streams <= options.streams,
                   "give each task at least one stream and at most those of the lane");
    TESSERA_EXPECT(!task.urgent || task.streams == 1, "give an urgent task one stream");
    kinds = std::max(kinds, task.kind + 1);
  }
  ready_.resize(static_cast<std::size_t>(kinds));
  makeNodes(plan);
  latest_.assign(static_cast<std::size_t>(options.streams) + 1, -1);
  junctionBefore_.resize((nodes_.size() - 1 - tasks_.size()) * latest_.size());
}

void LaneWork::makeNodes(const LanePlan& plan) {
  detail::Junctions lists(plan.tasks.size(), plan.edges);
  nodes_.resize(static_cast<std::size_t>(lists.nodes) + 1);
  for (std::int32_t n = 0; n <= lists.nodes; ++n) {
    node(n).successorBegin = lists.successorBegin[static_cast<std::size_t>(n)];
    node(n).predecessorBegin = lists.predecessorBegin[static_cast<std::size_t>(n)];
  }
  successors_ = std::move(lists.successors);
  predecessors_ = std::move(lists.predecessors);
  for (std::int32_t n = 0; n < lists.nodes; ++n) {
    Node& made = node(n);
    made.counts = static_cast<std::int32_t>(predecessors(n).size());
    if (isTask(n)) {
      const LaneTask& task = tasks_[static_cast<std::size_t>(n)];
      made.counts += 1 + peersOf(n);
      made.kind = task.kind;
      made.flags = (task.reports ? kReports : 0) | (peersOf(n) > 0 ? kHearsOf : 0);
    }
    made.missing = made.counts;
  }
}

void LaneWork::begin() {
  ordered_ = 0;
  launches_.clear();
  places_.clear();
  launched_.store(0, std::memory_order_release);
}

std::span<const std::int32_t> LaneWork::successors(std::int32_t n) const {
  const std::int32_t begin = node(n).successorBegin;
  return {successors_.data() + begin, static_cast<std::size_t>(node(n + 1).successorBegin - begin)};
}

std::span<const std::int32_t> LaneWork::predecessors(std::int32_t n) const {
  const std::int32_t begin = node(n).predecessorBegin;
  return {predecessors_.data() + begin, static_cast<std::size_t>(node(n + 1).predecessorBegin - begin)};
}

std::span<const std::int32_t> LaneWork::tasksOf(const Launch& launch) const {
  return {order_.data() + launch.begin, static_cast<std::size_t>(launch.end - launch.begin)};
}

std::span<const LaneWork::Place> LaneWork::placesOf(const Launch& launch) const {
  return {places_.data() + launch.firstPlace, static_cast<std::size_t>(launch.parts)};
}

void LaneWork::arrive(std::int32_t n) {
  Node& arrived = node(n);
  if (--arrived.missing > 0) return;
  arrived.missing = arrived.counts;
  if (isTask(n)) {
    ready_[static_cast<std::size_t>(arrived.kind)].push_back(n);
    return;
  }
  const std::int32_t after = std::exchange(arrived.after, kNone);
  arrived.launch = kNone;
  for (const std::int32_t next : successors(n)) {
    after == kNone ? arrive(next) : follow(next, after);
  }
}

void LaneWork::follow(std::int32_t n, std::int32_t launch) {
  std::int32_t& after = node(n).after;
  after = after == kNone || after == launch ? launch : kSeveral;
  arrive(n);
}

std::span<const LaneWork::Before> LaneWork::placesBefore(std::span<const std::int32_t> tasks) {
  before_.clear();
  std::int32_t last = kNone;
  for (const std::int32_t task : tasks) {
    const std::int32_t after = std::exchange(node(task).after, kNone);
    if (after == last && after != kSeveral) continue;
    last = after;
    if (after == kSeveral) {
      for (const std::int32_t n : predecessors(task)) addBefore(n);
    } else if (after != kNone) {
      addLaunchBefore(after);
    }
  }
  for (const Before& before : before_) latest_[static_cast<std::size_t>(before.place.stream)] = -1;
  std::sort(before_.begin(), before_.end(),
            [](const Before& a, const Before& b) { return a.launch > b.launch; });
  return before_;
}

void LaneWork::addBefore(std::int32_t n) {
  if (isTask(n)) return addLaunchBefore(node(n).launch);
  const auto current = static_cast<std::int32_t>(launches_.size());
  const std::int32_t seenBy = std::exchange(node(n).launch, current);
  if (seenBy == current) return;
  const auto each = latest_.size();
  const std::span<Before> places =
      std::span(junctionBefore_).subspan((static_cast<std::size_t>(n) - tasks_.size()) * each, each);
  if (seenBy == kNone) {
    for (Before& before : places) before.launch = kNone;
    for (const std::int32_t task : predecessors(n)) {
      const std::int32_t launched = node(task).launch;
      for (const Place& place : placesOf(launch(launched))) {
        Before& before = places[static_cast<std::size_t>(place.stream)];
        if (launched > before.launch) before = {launched, place};
      }
    }
  }
  for (const Before& before : places) {
    if (before.launch != kNone) addPlaceBefore(before.launch, before.place);
  }
}

void LaneWork::addLaunchBefore(std::int32_t n) {
  const auto current = static_cast<std::int32_t>(launches_.size());
  if (std::exchange(launch(n).seenBy, current) == current) return;
  for (const Place& place : placesOf(launch(n))) addPlaceBefore(n, place);
}

void LaneWork::addPlaceBefore(std::int32_t n, const Place& place) {
  std::int32_t& entry = latest_[static_cast<std::size_t>(place.stream)];
  if (entry < 0) {
    entry = static_cast<std::int32_t>(before_.size());
    before_.push_back({n, place});
  } else if (n > before_[static_cast<std::size_t>(entry)].launch) {
    before_[static_cast<std::size_t>(entry)] = {n, place};
  }
}

}  // namespace tessera
