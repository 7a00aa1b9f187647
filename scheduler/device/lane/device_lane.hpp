#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/lane/lane_streams.hpp"
#include "scheduler/device/lane/lane_work.hpp"

namespace tessera {

/// Puts the work of tasks into streams.
class LaneClient {
 public:
  virtual ~LaneClient() = default;
  /// Launches all `tasks`, which are of kind `kind`, in rising order: part p of each into `streams[p]`.
  virtual void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
                      std::span<const DeviceStream> streams) = 0;
};

/// The one launcher and poller of a device. Workers hand it tasks, by their numbers in the plan, and go on;
/// any free one serves it now and then.
///
///   const auto work = lane.prepare(plan);                     // once
///   lane.begin(*work, client);                                // before each step
///   lane.submit(task);                       // or (first, count): any thread, once a step and task
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
///   DeviceLane::crossDeviceBarrier(lanes);                   // before each step
///   lane.begin(work, client);                          // then for all lanes
///   ... submit to all, serve all until allLaunched() of all
///
/// Reused events. A lane uses an event again when it has seen it done; another lane to which it was handed
/// may not have waited for it yet. Then that lane waits for the later record, which does no harm: what it had
/// to wait for is done; and streams cannot wait in a cycle, since each wait looks at a record that was made
/// before it, so that all that anything in a stream waits for was put into streams before it.
///
/// No lock. `submit` and the hand-over between lanes are lock-free; the rest belongs to whoever is inside
/// `serve`, one thread at a time for each lane. After an error the lane is of no more use.
class DeviceLane {
 public:
  /// Device, works, clients and what they hold outlive the lane.
  DeviceLane(DeviceBackend& device, const LaneOptions& options);
  /// A lane with one plan, begun, for one step.
  DeviceLane(DeviceBackend& device, const LanePlan& plan, LaneClient& client, const LaneOptions& options);

  std::unique_ptr<LaneWork> prepare(const LanePlan& plan) const;
  /// Tells the lanes of a rank's devices, which are of one kind, of each other; once, before they are used.
  /// Their numbers are the positions here.
  static void connect(std::span<DeviceLane* const> lanes);
  /// From now on tasks are those of `work`. All of the one before have been launched, on all lanes with which
  /// it was joined, and those that report have ended. One thread; waits for whoever serves, and where the
  /// device is too many steps behind for that.
  void begin(LaneWork& work, LaneClient& client);

  /// Between steps, when the device has done all: no plan is begun, so that the last one may end.
  void forget() {
    const Leave leave{takeOver()};
    work_ = nullptr;
    client_ = nullptr;
  }

  /// Any thread: tasks `task`, `task` + 1, ..., `count` of them, at the price of one.
  void submit(std::int32_t task, std::int32_t count = 1) { work_->submitted_.push(task, count); }

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
    streams_.gather();
    streams_.addLaunch(0);
    put(streams_.handle(0));
  }
  /// Between steps, before any lane has begun the next: all that any of the lanes that are connected launches
  /// in it comes after all that any other has put into streams, but for tasks that are `independentOfPeers`
  /// where the lanes let them start at once. Waits for whoever serves one.
  enum class Barrier : std::uint8_t { All, DependentOnly };
  static void crossDeviceBarrier(std::span<DeviceLane* const> lanes, Barrier barrier = Barrier::All);
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
  /// Another lane, as this one sees it.
  struct Peer {
    DeviceBackend* device = nullptr;
    std::size_t firstStream = 0;  ///< among those of all lanes
  };

  /// Becomes the one inside `serve`.
  std::atomic<bool>& takeOver();
  void comeAfter(std::span<const detail::LaneStreams::Mark> marks, std::int32_t stream);
  bool advance();
  void launchReady();
  void launchKind(std::int32_t kind);
  void launchBatch(std::int32_t kind, std::span<const std::int32_t> tasks);
  void chooseStreams(std::span<const std::int32_t> tasks, std::span<const LaneWork::Before> before);
  void waitForBefore(std::span<const LaneWork::Before> before, bool independentOfPeers);
  void waitForPeers(std::span<const std::int32_t> tasks);
  void tellPeers(std::int32_t task);
  void noteLaunched(std::span<const std::int32_t> tasks, std::int32_t launch);
  void releaseSuccessors(std::span<const std::int32_t> tasks, std::int32_t launch);
  bool reports(std::int32_t task) const { return (work_->flagsOf(task) & LaneWork::kReports) != 0; }
  void endPart(std::int32_t launch);

  DeviceBackend& device_;
  const LaneOptions options_;
  std::unique_ptr<LaneWork> ownWork_;
  LaneWork* work_ = nullptr;
  LaneClient* client_ = nullptr;

  alignas(detail::kCacheLine) std::atomic<bool> serving_{false};

  std::vector<Peer> peers_;  ///< by lane, where connected

  // Touched by the one thread inside `serve` only.
  LaneCounts counts_;
  detail::LaneStreams streams_;        ///< the urgent one last
  std::vector<std::int32_t> chosen_;   ///< streams of the launch at hand
  std::vector<DeviceStream> handles_;  ///< likewise, for the client
  std::vector<std::int32_t> ended_;
  std::int32_t nextStream_ = 0;
};

}  // namespace tessera
