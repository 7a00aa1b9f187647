#include "scheduler/device/lane/lane_work.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "scheduler/device/lane/junctions.hpp"

namespace tessera {

using detail::PeerArrivals;

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
  junctionBefore_.resize((counts_.size() - tasks_.size()) * latest_.size());
}

void LaneWork::makeNodes(const LanePlan& plan) {
  detail::Junctions lists(plan.tasks.size(), plan.edges);
  successors_ = std::move(lists.successors);
  successorBegin_ = std::move(lists.successorBegin);
  predecessors_ = std::move(lists.predecessors);
  predecessorBegin_ = std::move(lists.predecessorBegin);
  for (std::int32_t n = 0; n < lists.nodes; ++n) {
    counts_.push_back(static_cast<std::int32_t>(predecessors(n).size()));
    if (!isTask(n)) continue;
    counts_.back() += 1 + peersOf(n);
    const bool reports = tasks_[static_cast<std::size_t>(n)].reports;
    flags_.push_back(static_cast<std::uint8_t>((reports ? kReports : 0) | (peersOf(n) > 0 ? kHearsOf : 0)));
  }
  for (const std::int32_t count : counts_) states_.push_back({count, kNone});
  launchOf_.assign(counts_.size(), kNone);
  arrived_.resize(counts_.size() + 1);
}

void LaneWork::begin() {
  ordered_ = 0;
  launches_.clear();
  positions_.clear();
  launched_.store(0, std::memory_order_release);
}

std::span<const std::int32_t> LaneWork::successors(std::int32_t first, std::int32_t last) const {
  const std::int32_t begin = successorBegin_[static_cast<std::size_t>(first)];
  const std::int32_t end = successorBegin_[static_cast<std::size_t>(last) + 1];
  return {successors_.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::span<const std::int32_t> LaneWork::predecessors(std::int32_t node) const {
  const std::int32_t begin = predecessorBegin_[static_cast<std::size_t>(node)];
  const std::int32_t end = predecessorBegin_[static_cast<std::size_t>(node) + 1];
  return {predecessors_.data() + begin, static_cast<std::size_t>(end - begin)};
}

std::span<const std::int32_t> LaneWork::tasksOf(const Launch& launch) const {
  return {order_.data() + launch.begin, static_cast<std::size_t>(launch.end - launch.begin)};
}

std::span<const LaneWork::LaunchPosition> LaneWork::positionsOf(const Launch& launch) const {
  return {positions_.data() + launch.firstPlace, static_cast<std::size_t>(launch.parts)};
}

void LaneWork::follow(std::span<const std::int32_t> nodes, std::int32_t launch) {
  // Without branches, which could not be foretold: each node is written behind those that have arrived, and
  // counts if it has.
  std::int32_t* const arrived = arrived_.data();
  State* const states = states_.data();
  std::size_t count = arrivedCount_;
  for (const std::int32_t n : nodes) {
    State& state = states[n];
    const bool one = state.after == kNone || state.after == launch;
    state.after = one ? launch : kSeveral;
    arrived[count] = n;
    count += --state.missing == 0 ? 1 : 0;
  }
  arrivedCount_ = count;
}

void LaneWork::settle() {
  for (std::size_t next = 0; next < arrivedCount_; ++next) {
    const std::int32_t n = arrived_[next];
    const auto at = static_cast<std::size_t>(n);
    states_[at].missing = counts_[at];
    if (isTask(n)) {
      ready_[static_cast<std::size_t>(tasks_[at].kind)].push_back(n);
      continue;
    }
    launchOf_[at] = kNone;
    follow(successors(n), std::exchange(states_[at].after, kNone));
  }
  arrivedCount_ = 0;
}

std::span<const LaneWork::Before> LaneWork::placesBefore(std::span<const std::int32_t> tasks) {
  before_.clear();
  std::int32_t last = kNone;
  for (const std::int32_t task : tasks) {
    const std::int32_t after = std::exchange(states_[static_cast<std::size_t>(task)].after, kNone);
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
  if (isTask(n)) return addLaunchBefore(launchOf(n));
  const auto current = static_cast<std::int32_t>(launches_.size());
  const std::int32_t seenBy = std::exchange(launchOf(n), current);
  if (seenBy == current) return;
  const auto each = latest_.size();
  const std::span<Before> places =
      std::span(junctionBefore_).subspan((static_cast<std::size_t>(n) - tasks_.size()) * each, each);
  if (seenBy == kNone) {
    for (Before& before : places) before.launch = kNone;
    for (const std::int32_t task : predecessors(n)) {
      const std::int32_t launched = launchOf(task);
      for (const LaunchPosition& place : positionsOf(launch(launched))) {
        Before& before = places[static_cast<std::size_t>(place.stream)];
        if (launched > before.launch) before = {launched, place};
      }
    }
  }
  for (const Before& before : places) {
    if (before.launch != kNone) addPositionBefore(before.launch, before.place);
  }
}

void LaneWork::addLaunchBefore(std::int32_t n) {
  const auto current = static_cast<std::int32_t>(launches_.size());
  if (std::exchange(launch(n).seenBy, current) == current) return;
  for (const LaunchPosition& place : positionsOf(launch(n))) addPositionBefore(n, place);
}

void LaneWork::addPositionBefore(std::int32_t n, const LaunchPosition& place) {
  std::int32_t& entry = latest_[static_cast<std::size_t>(place.stream)];
  if (entry < 0) {
    entry = static_cast<std::int32_t>(before_.size());
    before_.push_back({n, place});
  } else if (n > before_[static_cast<std::size_t>(entry)].launch) {
    before_[static_cast<std::size_t>(entry)] = {n, place};
  }
}

std::span<const LaneWork::Told> LaneWork::toldOf(std::int32_t task) const {
  if (told_.empty()) return {};
  const auto n = static_cast<std::size_t>(task);
  const auto first = static_cast<std::size_t>(toldBegin_[n]);
  return std::span(told_).subspan(first, static_cast<std::size_t>(toldBegin_[n + 1]) - first);
}

std::int32_t LaneWork::peersOf(std::int32_t task) const {
  return peerPredecessors_.empty() ? 0 : peerPredecessors_[static_cast<std::size_t>(task)];
}

void LaneWork::join(std::span<LaneWork* const> works) {
  for (LaneWork* work : works) {
    TESSERA_EXPECT(!work->arrivals_.has_value(), "join a plan of lanes once");
    std::sort(work->peerEdges_.begin(), work->peerEdges_.end(),
              [](const PeerEdge& a, const PeerEdge& b) { return a.task < b.task; });
  }
  for (LaneWork* work : works) {
    work->arrivals_.emplace(work->edgesFrom(works), work->tasks_.size());
    for (std::int32_t task = 0; task < std::ssize(work->tasks_); ++task) {
      TESSERA_EXPECT(work->arrivals_->countOf(task) == work->peersOf(task),
                     "give each task the number of edges that lead to it from other lanes");
    }
  }
  for (LaneWork* work : works) work->tell(works);
}

/// The edges of all other lanes that lead here.
std::vector<PeerArrivals::Edge> LaneWork::edgesFrom(std::span<LaneWork* const> works) const {
  std::vector<PeerArrivals::Edge> edges;
  for (std::size_t lane = 0; lane < works.size(); ++lane) {
    for (const PeerEdge& edge : works[lane]->peerEdges_) {
      TESSERA_EXPECT(edge.lane >= 0 && edge.lane < std::ssize(works), "name a lane that is joined");
      if (works[static_cast<std::size_t>(edge.lane)] != this) continue;
      TESSERA_EXPECT(works[lane] != this, "leave edges within a lane to LanePlan::edges");
      TESSERA_EXPECT(edge.peerTask >= 0 && edge.peerTask < taskCount(), "name a task of the other lane");
      edges.push_back({edge.peerTask, static_cast<std::int32_t>(lane), edge.task,
                       works[lane]->tasks_[static_cast<std::size_t>(edge.task)].streams});
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// Finds the entry of each edge that begins here.
void LaneWork::tell(std::span<LaneWork* const> works) {
  const auto self = static_cast<std::int32_t>(std::find(works.begin(), works.end(), this) - works.begin());
  toldBegin_.assign(tasks_.size() + 1, 0);
  for (const PeerEdge& edge : peerEdges_) {
    LaneWork& other = *works[static_cast<std::size_t>(edge.lane)];
    const auto edges = other.arrivals_->edges();
    const PeerArrivals::Edge wanted{edge.peerTask, self, edge.task,
                                    tasks_[static_cast<std::size_t>(edge.task)].streams};
    const auto found = std::lower_bound(edges.begin(), edges.end(), wanted);
    told_.push_back({&other, static_cast<std::int32_t>(found - edges.begin())});
    ++toldBegin_[static_cast<std::size_t>(edge.task) + 1];
    flags_[static_cast<std::size_t>(edge.task)] |= kTells;
  }
  for (std::size_t n = 1; n < toldBegin_.size(); ++n) toldBegin_[n] += toldBegin_[n - 1];
}

}  // namespace tessera
