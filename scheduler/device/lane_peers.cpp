// What lanes of several devices have to do with one another.
#include <algorithm>
#include <utility>

#include "core/contracts.hpp"
#include "scheduler/device/device_lane.hpp"

namespace tessera {

using detail::PeerArrivals;

std::span<const LaneWork::Told> LaneWork::toldOf(std::int32_t task) const {
  if (told_.empty()) return {};
  const auto n = static_cast<std::size_t>(task);
  const auto first = static_cast<std::size_t>(toldBegin_[n]);
  return std::span(told_).subspan(first, static_cast<std::size_t>(toldBegin_[n + 1]) - first);
}

std::int32_t LaneWork::peersOf(std::int32_t task) const {
  return peerPredecessors_.empty() ? 0 : peerPredecessors_[static_cast<std::size_t>(task)];
}

std::int32_t LaneWork::countsOf(std::int32_t task) const {
  return 1 + static_cast<std::int32_t>(predecessors(task).size()) + peersOf(task);
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
  }
  for (std::size_t n = 1; n < toldBegin_.size(); ++n) toldBegin_[n] += toldBegin_[n - 1];
}

void DeviceLane::connect(std::span<DeviceLane* const> lanes) {
  std::vector<Peer> peers;
  std::size_t streams = 0;
  for (DeviceLane* lane : lanes) {
    peers.push_back({&lane->device_, streams});
    streams += lane->streams_.size();
  }
  for (DeviceLane* lane : lanes) {
    lane->peers_ = peers;
    for (Stream& stream : lane->streams_) stream.waitedForPeers.assign(streams, 0);
  }
}

/// Lets the streams of a launch wait for what its task waits for on other devices.
void DeviceLane::waitForPeers(std::int32_t task) {
  if (work_->peersOf(task) == 0) return;
  PeerArrivals& arrivals = *work_->arrivals_;
  const std::int32_t first = arrivals.firstOf(task);
  for (std::int32_t entry = first; entry < first + arrivals.countOf(task); ++entry) {
    const Peer& peer =
        peers_[static_cast<std::size_t>(arrivals.edges()[static_cast<std::size_t>(entry)].lane)];
    for (const PeerArrivals::Mark& mark : arrivals.marks(entry)) {
      if (mark.event.number < 0) continue;
      for (const std::int32_t number : chosen_) {
        Stream& stream = streams_[static_cast<std::size_t>(number)];
        std::int64_t& waited =
            stream.waitedForPeers[peer.firstStream + static_cast<std::size_t>(mark.stream)];
        if (waited >= mark.covers) continue;
        device_.waitForPeer(stream.handle, *peer.device, mark.event);
        ++counts_.peerWaits;
        waited = mark.covers;
      }
    }
  }
}

/// Hands a task that was launched, or has been seen to end where lanes do not chain, to those who wait for
/// it.
void DeviceLane::tellPeers(std::int32_t task) {
  for (const LaneWork::Told& told : work_->toldOf(task)) {
    const std::span<PeerArrivals::Mark> marks = told.work->arrivals_->marks(told.entry);
    const std::span<const Place> places = work_->placesOf(task);
    for (std::size_t part = 0; part < marks.size(); ++part) {
      const Place& place = places[part];
      marks[part] = {{}, place.stream, place.launch};
      if (!options_.chainsOnDevice) continue;
      const Mark mark = markOf(streams_[static_cast<std::size_t>(place.stream)], place.launch);
      marks[part] = {mark.event, place.stream, mark.covers};
    }
    told.work->arrivals_->give(told.entry);
  }
}

/// An event behind all that is in any stream.
DeviceLane::Mark DeviceLane::gather() {
  bool waits = false;
  for (std::int32_t from = 1; from < std::ssize(streams_); ++from) {
    waits |= waitFor(streams_.front(), {from, streams_[static_cast<std::size_t>(from)].launched});
  }
  // A launch of nothing, so that what waits for the stream waits for these streams too.
  if (waits) ++streams_.front().launched;
  return markOf(streams_.front(), streams_.front().launched);
}

void DeviceLane::comeAfter(DeviceLane& other) {
  const Leave leave{takeOver()};
  const Leave leaveOther{other.takeOver()};
  other.device_.bindThread();
  const Mark mark = other.gather();
  device_.bindThread();
  device_.waitForPeer(streams_.front().handle, other.device_, mark.event);
  // The fence at the begin of the step takes it to the other streams.
  ++streams_.front().launched;
}

}  // namespace tessera
