#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/lock_free/submissions.hpp"
#include "scheduler/device/lane/lane_streams.hpp"
#include "scheduler/device/lane/peer_arrivals.hpp"
#include "scheduler/device/lane/rising_order.hpp"

namespace tessera {

/// A task of a device, as its lane sees it.
struct LaneTask {
  std::int32_t kind = 0;     ///< ready tasks of one kind are launched together
  std::int32_t streams = 1;  ///< parts that run in streams of their own; the same for all tasks of a kind
  bool reports = true;       ///< the host waits for it; without, the host never hears of it
  bool urgent = false;  ///< goes before what waits for room on the device; the same for all tasks of a kind
  /// Touches nothing that other devices touched in the step before: it need not come after their part of that
  /// (DeviceLane::crossDeviceBarrier); the same for all tasks of a kind.
  bool independentOfPeers = false;
};

/// A task of another device's lane that waits for one of this lane.
struct PeerEdge {
  std::int32_t task = 0;      ///< of this lane
  std::int32_t lane = 0;      ///< the other one, by its position in `DeviceLane::connect`
  std::int32_t peerTask = 0;  ///< the one that waits, in that lane's plan
};

/// All tasks of a lane, and which waits for which on the device. Made once with the compiled graph.
struct LanePlan {
  std::vector<LaneTask> tasks;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  ///< (first, then), each once, without a cycle
  std::vector<PeerEdge> peerEdges = {};                      ///< each once, without a cycle over all lanes
  std::vector<std::int32_t> peerPredecessors = {};  ///< by task: edges from other lanes; empty: none at all
};

/// What a lane is told to do.
struct LaneOptions {
  std::int32_t streams = 4;          ///< besides one for urgent tasks
  std::int32_t largestBatch = 4096;  ///< tasks of one launch; 1: no batching
  std::int32_t stepsAhead = 2;  ///< that the host may have launched before the device has begun the first
};

/// A plan of a lane, made ready to be gone through any number of times; see `DeviceLane::prepare`.
class LaneWork {
 public:
  LaneWork(const LanePlan& plan, const LaneOptions& options);

  /// Joins the parts of one plan that several lanes have, which are given by the numbers of these: each task
  /// that others wait for learns whom it tells. Once, after all are prepared and before one is begun; without
  /// it a plan has no edges to other lanes.
  static void join(std::span<LaneWork* const> works);

  std::int64_t taskCount() const { return static_cast<std::int64_t>(tasks_.size()); }

 private:
  friend class DeviceLane;

  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kSeveral = -2;

  /// What changes of a node with each edge: a node is a task; or, behind all tasks, a *junction*: where many
  /// tasks wait for the same ones, all of those lead to one junction and this to all who wait, a + b edges in
  /// place of a * b. It is passed when the last it waits for is launched.
  struct State {
    std::int32_t missing = 0;  ///< submission and predecessors yet to come
    /// The launch that it waits for, as far as is known; `kNone`, `kSeveral`.
    std::int32_t after = kNone;
  };
  /// Of a task.
  static constexpr std::uint8_t kReports = 1;
  static constexpr std::uint8_t kTells = 2;    ///< tasks of other lanes
  static constexpr std::uint8_t kHearsOf = 4;  ///< tasks of other lanes

  using LaunchPosition = detail::LaneStreams::LaunchPosition;
  /// A launch of this step: the tasks from `begin` to `end` in the order of launches.
  struct Launch {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    std::int32_t firstPlace = 0;  ///< where its parts went
    std::int32_t parts = 0;
    std::int32_t running = 0;     ///< parts not known to be done, if it is watched
    std::int32_t seenBy = kNone;  ///< the last launch that waits for this one
  };
  /// A part of a launch, where others come after it.
  struct Before {
    std::int32_t launch = kNone;  ///< its number in this step
    LaunchPosition place;
  };
  /// Whom a task tells of its launch: an entry there.
  struct Told {
    LaneWork* work = nullptr;
    std::int32_t entry = 0;
  };

  void begin();
  bool isTask(std::int32_t node) const { return node < std::ssize(tasks_); }
  std::uint8_t flagsOf(std::int32_t task) const { return flags_[static_cast<std::size_t>(task)]; }
  std::int32_t& launchOf(std::int32_t node) { return launchOf_[static_cast<std::size_t>(node)]; }
  /// Of all nodes from `first` to `last`.
  std::span<const std::int32_t> successors(std::int32_t first, std::int32_t last) const;
  std::span<const std::int32_t> successors(std::int32_t node) const { return successors(node, node); }
  std::span<const std::int32_t> predecessors(std::int32_t node) const;
  Launch& launch(std::int32_t n) { return launches_[static_cast<std::size_t>(n)]; }
  std::span<const std::int32_t> tasksOf(const Launch& launch) const;
  std::span<const LaunchPosition> positionsOf(const Launch& launch) const;

  /// One thing less that a node waits for: it was submitted, or told by another lane.
  void arrive(std::int32_t node) {
    arrived_[arrivedCount_] = node;
    arrivedCount_ += --states_[static_cast<std::size_t>(node)].missing == 0 ? 1 : 0;
  }
  /// The same for each of these: a predecessor has been launched, with launch number `launch`.
  void follow(std::span<const std::int32_t> nodes, std::int32_t launch);
  /// What has arrived at all it waits for becomes ready.
  void settle();
  /// Of all launches that `tasks`, which are to be the next launch, come after: the last in each stream, the
  /// latest first.
  std::span<const Before> placesBefore(std::span<const std::int32_t> tasks);
  void addBefore(std::int32_t node);
  void addLaunchBefore(std::int32_t launch);
  void addPositionBefore(std::int32_t launch, const LaunchPosition& place);

  void makeNodes(const LanePlan& plan);
  std::span<const Told> toldOf(std::int32_t task) const;
  /// How many edges lead to a task from other lanes.
  std::int32_t peersOf(std::int32_t task) const;
  std::vector<detail::PeerArrivals::Edge> edgesFrom(std::span<LaneWork* const> works) const;
  void tell(std::span<LaneWork* const> works);

  std::vector<LaneTask> tasks_;
  // By node; `begin` has one entry more.
  std::vector<std::int32_t> successors_, successorBegin_;
  std::vector<std::int32_t> predecessors_, predecessorBegin_;
  std::vector<std::int32_t> counts_;  ///< what it waits for in all
  std::vector<std::uint8_t> flags_;   ///< by task
  std::vector<PeerEdge> peerEdges_;   ///< ascending by task
  std::vector<std::int32_t> peerPredecessors_;
  std::vector<Told> told_;  ///< by peer edge, once joined
  std::vector<std::int32_t> toldBegin_;
  detail::Submissions<> submitted_;
  std::optional<detail::PeerArrivals> arrivals_;  ///< once joined

  // Touched by the one thread inside `serve` only.
  std::vector<State> states_;           ///< by node
  std::vector<std::int32_t> launchOf_;  ///< a task's in this step; of a junction the last that looked at it
  std::vector<std::int32_t> arrived_;   ///< nodes with nothing missing, and room for one more
  std::size_t arrivedCount_ = 0;
  std::vector<std::vector<std::int32_t>> ready_;  ///< by kind
  detail::RisingOrder rising_;
  std::vector<std::int32_t> order_;        ///< tasks as they were launched in this step
  std::int32_t ordered_ = 0;               ///< so many of them
  std::vector<Launch> launches_;           ///< of this step
  std::vector<LaunchPosition> positions_;  ///< by launch and part
  std::vector<std::int32_t> latest_;       ///< by stream: an entry of `before_`; -1: none
  std::vector<Before> before_;
  std::vector<Before> junctionBefore_;     ///< by junction and stream; kNone: nothing there
  std::atomic<std::int64_t> launched_{0};  ///< tasks, since the plan was begun
};

}  // namespace tessera
