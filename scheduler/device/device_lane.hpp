#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/detail/submissions.hpp"
#include "scheduler/device/detail/peer_arrivals.hpp"
#include "scheduler/device/device_backend.hpp"

namespace tessera {

/// A task of a device, as its lane sees it.
struct LaneTask {
  std::int32_t kind = 0;     ///< ready tasks of one kind are launched together
  std::int32_t streams = 1;  ///< parts that run in streams of their own; the same for all tasks of a kind
  bool reports = true;       ///< the host waits for it; without, the host never hears of it
  bool urgent = false;  ///< goes before what waits for room on the device; the same for all tasks of a kind
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

/// What a lane is told to do; the rest is for measurements, which switch one thing off at a time.
struct LaneOptions {
  std::int32_t streams = 4;
  std::int32_t largestBatch = 4096;  ///< tasks of one launch; 1: no batching
  bool chainsOnDevice = true;        ///< false: a task waits until the host has seen its predecessors end
  bool urgentStream = true;          ///< besides, for urgent tasks; false: they are as all others
  std::int32_t stepsAhead = 2;  ///< that the host may have launched before the device has begun the first
};

/// What a lane has done since it was made.
struct LaneCounts {
  std::int64_t tasks = 0;
  std::int64_t launches = 0;
  std::int64_t records = 0;    ///< of events
  std::int64_t waits = 0;      ///< of a stream for another
  std::int64_t peerWaits = 0;  ///< of a stream for one of another device
  std::int64_t queries = 0;    ///< of events, by the host
};

/// Puts the work of tasks into streams.
class LaneClient {
 public:
  virtual ~LaneClient() = default;
  /// Launches all `tasks`, which are of kind `kind`, in rising order: part p of each into `streams[p]`.
  virtual void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
                      std::span<const DeviceStream> streams) = 0;
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

  /// Where a part of a task went.
  struct Place {
    std::int32_t stream = 0;
    std::int64_t launch = 0;
  };
  /// Whom a task tells of its launch: an entry there.
  struct Told {
    LaneWork* work = nullptr;
    std::int32_t entry = 0;
  };
  std::span<Place> placesOf(std::int32_t task);
  std::span<const Told> toldOf(std::int32_t task) const;
  /// How many edges lead to a task from other lanes, and what it waits for in all.
  std::int32_t peersOf(std::int32_t task) const;
  std::int32_t countsOf(std::int32_t task) const;
  std::vector<detail::PeerArrivals::Edge> edgesFrom(std::span<LaneWork* const> works) const;
  void tell(std::span<LaneWork* const> works);
  std::span<const std::int32_t> successors(std::int32_t task) const;
  std::span<const std::int32_t> predecessors(std::int32_t task) const;

  std::vector<LaneTask> tasks_;
  std::vector<std::int32_t> successors_, successorBegin_;      // of each task, one list after the other
  std::vector<std::int32_t> predecessors_, predecessorBegin_;  // likewise
  std::vector<std::int32_t> placeBegin_;
  std::vector<PeerEdge> peerEdges_;  ///< ascending by task
  std::vector<std::int32_t> peerPredecessors_;
  std::vector<Told> told_;  ///< by peer edge, once joined
  std::vector<std::int32_t> toldBegin_;
  detail::Submissions<> submitted_;
  std::optional<detail::PeerArrivals> arrivals_;  ///< once joined

  // Touched by the one thread inside `serve` only.
  bool hasUrgent_ = false;
  std::vector<std::int32_t> missing_;             ///< by task: submission and predecessors yet to come
  std::vector<std::int32_t> running_;             ///< by task: parts not known to be done, of those watched
  std::vector<Place> places_;                     ///< by task and part
  std::vector<std::vector<std::int32_t>> ready_;  ///< by kind
  std::atomic<std::int64_t> launched_{0};         ///< tasks, since the plan was begun
};

/// The one launcher and poller of a device. Workers hand it tasks, by their numbers in the plan, and go on;
/// any free one serves it now and then.
///
///   const auto work = lane.prepare(plan);                     // once
///   lane.begin(*work, client);                                // before each step
///   lane.submit(task);                                        // any thread, once a step and task
///   lane.serve([&](std::int32_t task) { ... });               // any thread: the tasks that have ended
///
/// A task is submitted when all that it waits for *on the host* is done. What it waits for on the device (the
/// plan's edges) need not be: the lane launches it once those are launched, in the same stream or in one that
/// waits for their event, and the host is not asked. So a whole step of a device can be submitted at its
/// start. Tasks that are ready at the same moment and of one kind are one launch. A task counts as ended when
/// all its parts are. Counts re-arm when a task is launched: the next step begins when all tasks of this one
/// have been, and all that report have ended. The device may still be at work then: what a step puts into
/// streams comes, on the device, after all that was there when it began.
///
/// Tasks of several devices of a rank wait for one another by the plans' peer edges: the lane that launches a
/// task has an event recorded behind it and hands it to the lanes of those that wait, which let their streams
/// wait for it. Neither waits for the other on the host, and the host is not asked.
///
///   DeviceLane::connect(lanes);                        // once
///   LaneWork::join(works);                             // once a plan
///   lane.comeAfter(other);                             // before each step: for all pairs with common
///   memory, lane.begin(work, client);                          // then for all lanes
///   ... submit to all, serve all until allLaunched() of all
///
/// Reused events. A lane uses an event again when it has seen it done; another lane to which it was handed
/// may not have waited for it yet. Then that lane waits for the later record, which does no harm: what it had
/// to wait for is done; and streams cannot wait in a circle, since each wait looks at a record that was made
/// before it, so that all that anything in a stream waits for was put into streams before it.
///
/// No lock. `submit` and the hand-over between lanes are lock-free; the rest belongs to whoever is inside
/// `serve`, one thread at a time for each lane. After an error the lane is of no more use.
class DeviceLane {
 public:
  /// Device, works, clients and what they hold outlive the lane.
  DeviceLane(DeviceBackend& device, const LaneOptions& options);
  /// A lane with one plan, begun.
  DeviceLane(DeviceBackend& device, const LanePlan& plan, LaneClient& client, const LaneOptions& options);

  std::unique_ptr<LaneWork> prepare(const LanePlan& plan) const;
  /// Tells the lanes of a rank's devices, which are of one kind, of each other; once, before they are used.
  /// Their numbers are the positions here.
  static void connect(std::span<DeviceLane* const> lanes);
  /// From now on tasks are those of `work`. All of the one before have been launched, on all lanes with which
  /// it was joined, and those that report have ended. One thread; waits for whoever serves, and where the
  /// device is too many steps behind for that.
  void begin(LaneWork& work, LaneClient& client);

  /// Any thread.
  void submit(std::int32_t task) { work_->submitted_.push(task); }

  /// Any thread: launches what has become ready, looks at the events, calls `ended(task)` for each reporting
  /// task that has ended since. False: another thread was serving it, or there was nothing to do.
  template <class Ended>
  bool serve(const Ended& ended) {
    if (serving_.exchange(true, std::memory_order_acquire)) return false;
    const Leave leave{serving_};
    const bool worked = advance();
    for (const std::int32_t task : ended_) ended(task);
    return worked;
  }
  /// Whether all tasks of the plan have been launched since it was begun. Any thread.
  bool allLaunched() const { return work_->launched_.load(std::memory_order_acquire) == work_->taskCount(); }
  /// Between steps: calls `put(stream)`, which may put work into that stream. It comes before all that the
  /// next step launches, and after all that this one has launched. Waits for whoever serves.
  template <class Put>
  void putBeside(const Put& put) {
    const Leave leave{takeOver()};
    device_.bindThread();
    fence();
    ++streams_.front().launched;
    put(streams_.front().handle);
  }
  /// Between steps, before any lane has begun the next: all that this lane launches in it comes after all
  /// that the other one, of a device of the same kind, has put into streams. Waits for whoever serves either.
  void comeAfter(DeviceLane& other);
  /// Waits until the device has done all that was put into its streams. Waits for whoever serves, too.
  void synchronize();

  const LaneOptions& options() const { return options_; }
  /// While nobody serves the lane.
  const LaneCounts& counts() const { return counts_; }
  /// While nobody serves the lane: tasks that were launched and have not been seen to end, for the watchdog.
  std::vector<std::int32_t> begun() const;

 private:
  struct Leave {
    std::atomic<bool>& serving;
    ~Leave() { serving.store(false, std::memory_order_release); }
  };
  using Place = LaneWork::Place;
  /// A recorded event: all launches of its stream up to `covers` are done when it is.
  struct Mark {
    DeviceEvent event;
    std::int64_t covers = 0;
  };
  /// A part of a task that somebody on the host waits for.
  struct Watched {
    std::int64_t launch = 0;
    std::int32_t task = 0;
  };
  struct Stream {
    DeviceStream handle;
    std::int64_t launched = 0;            ///< launches so far; also the number of the last one
    std::int64_t done = 0;                ///< launches known to be done
    std::deque<Mark> marks;               ///< recorded, not known to be done
    std::deque<Watched> watched;          ///< in the order of launches
    std::vector<std::int64_t> waitedFor;  ///< by stream: launches there that all later work here comes after
    std::vector<std::int64_t> waitedForPeers;  ///< likewise, by lane and stream
  };
  /// Another lane, as this one sees it.
  struct Peer {
    DeviceBackend* device = nullptr;
    std::size_t firstStream = 0;  ///< in `Stream::waitedForPeers`
  };

  /// Becomes the one inside `serve`.
  std::atomic<bool>& takeOver();
  void fence(bool urgentToo = false);
  Mark gather();
  void boundLead();
  bool advance();
  void release(std::int32_t task);
  void launchReady();
  void launchBatch(std::int32_t kind, std::span<const std::int32_t> tasks);
  void chooseStreams(std::span<const std::int32_t> tasks, std::int32_t parts);
  void waitForPredecessors(std::int32_t task);
  /// False where it need not.
  bool waitFor(Stream& stream, const Place& place);
  void waitForPeers(std::int32_t task);
  void tellPeers(std::int32_t task);
  void noteLaunched(std::int32_t task);
  void releaseSuccessors(std::int32_t task);
  Mark markOf(Stream& stream, std::int64_t launch);
  void markWatched();
  bool poll();
  void endPart(std::int32_t task);

  DeviceBackend& device_;
  const LaneOptions options_;
  std::unique_ptr<LaneWork> ownWork_;
  LaneWork* work_ = nullptr;
  LaneClient* client_ = nullptr;

  alignas(detail::kCacheLine) std::atomic<bool> serving_{false};

  std::vector<Peer> peers_;  ///< by lane, where connected

  // Touched by the one thread inside `serve` only.
  std::vector<Stream> streams_;  ///< the urgent one last
  std::vector<DeviceEvent> spareEvents_;
  std::deque<DeviceEvent> begins_;  ///< of the last steps, on the device
  std::vector<std::int32_t> batch_;
  std::vector<std::int32_t> chosen_;   ///< streams of the launch at hand
  std::vector<DeviceStream> handles_;  ///< likewise, for the client
  std::vector<std::int32_t> ended_;
  std::int32_t nextStream_ = 0;
  LaneCounts counts_;
};

}  // namespace tessera
