// What lanes of several devices have to do with one another.
#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "scheduler/device/lane/device_lane.hpp"

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

/// Hands a task that was launched, or has been seen to end where lanes do not chain, to those who wait for
/// it.
void DeviceLane::tellPeers(std::int32_t task) {
  const std::span<const LaneWork::Place> places = work_->placesOf(work_->launch(work_->launchOf(task)));
  for (const LaneWork::Told& told : work_->toldOf(task)) {
    const std::span<PeerArrivals::Mark> marks = told.work->arrivals_->marks(told.entry);
    for (std::size_t part = 0; part < marks.size(); ++part) {
      const LaneWork::Place& place = places[part];
      marks[part] = {{}, place.stream, place.launch};
      if (!options_.chainsOnDevice) continue;
      const detail::LaneStreams::Mark mark = streams_.markOf(place);
      marks[part] = {mark.event, place.stream, mark.covers};
    }
    told.work->arrivals_->give(told.entry);
  }
}

void DeviceLane::comeTogether(std::span<DeviceLane* const> lanes, Meeting meeting) {
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
    lane->comeAfter(marks, meeting == Meeting::OfAll ? 0 : lane->options_.streams - 1);
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
