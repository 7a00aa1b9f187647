#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/device/lane/launch_watch.hpp"
#include "scheduler/device/lane/plan_capture.hpp"
#include "scheduler/device/loops/kept_loops.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/device_step/device_side.hpp"
#include "scheduler/device_step/replay_segments.hpp"
#include "scheduler/step_runner.hpp"

namespace tessera::detail {

/// What the tasks of a lane do, as PlanReplay asks for it; kinds and tasks are those of the lane's plan.
class ReplaySource {
 public:
  virtual ~ReplaySource() = default;
  /// Whether the tasks of a kind have bodies; others move bytes.
  virtual bool hasBodies(std::int32_t kind) const = 0;
  virtual void callBody(std::int32_t kind, std::int32_t task, DeviceLoops& loops) = 0;
  /// Tasks that move bytes: memory for what changes from step to step, its values for the step at hand, and
  /// the launches.
  virtual DeviceMoves::KeptValues keepValues(std::int32_t kind, std::span<const std::int32_t> tasks,
                                             DeviceStream stream) = 0;
  virtual void giveValues(const DeviceMoves::KeptValues& kept, DeviceStream stream) = 0;
  virtual void evaluate(std::int32_t kind, std::span<const std::int32_t> tasks,
                        const DeviceMoves::KeptValues& kept) = 0;
  /// ... and how many bytes these carry.
  virtual std::int64_t captureMoves(std::int32_t kind, std::span<const std::int32_t> tasks,
                                    const DeviceMoves::KeptValues& kept, DeviceStream stream) = 0;
  /// Notes in status words what a launch of these tasks does.
  virtual void noteLaunched(std::int32_t kind, std::span<const std::int32_t> tasks) = 0;
};

/// What has been captured and replayed.
struct ReplayCounts {
  std::int64_t captures = 0;
  std::int64_t replays = 0;
  std::int64_t bodiesCalled = 0;  ///< in captures and replays, without those for results of reductions
};

/// Runs the tasks of a lane's plan as graphs of the device: one for each segment, a set of tasks whose waits
/// for the host and for other devices all come before its first task. The lane then has a task for each
/// segment, which launches the graph; segments of several devices wait for one another as tasks do.
///
/// Generations swap, so that there is a graph for each way in which they lie in memory. The first step of a
/// way is launched as any other and makes all tables; the second is captured; from then on steps are
/// replayed. A replay calls a body again only where one of its launch has asked for a number of the step that
/// has changed since; its closures then go to where the graph finds them. Where the loops that a body makes
/// are others than before, the segment is captured anew.
///
/// Thread rule: the lane's.
class PlanReplay : public LaneClient {
 public:
  /// All of these outlive the object but `plan`, the lane's, `segmentOf`, by task of it, and `peers`: a task
  /// comes behind those of its own and of lower segments alone. `watch` hears of each replay as `watched`.
  PlanReplay(DeviceSide& side, const LanePlan& plan, std::span<const std::int32_t> segmentOf,
             const SegmentPeers& peers, ReplaySource& source, const StepInputs& inputs, LaunchWatch& watch,
             std::int32_t watched);
  /// Waits for what it has launched.
  ~PlanReplay() override;
  PlanReplay(const PlanReplay&) = delete;
  PlanReplay& operator=(const PlanReplay&) = delete;

  /// Before a step. True: its segments are the tasks of `work`; false: it is to be launched as any other.
  bool begin(const std::vector<std::int32_t>& placing);
  LaneWork& work() { return *work_; }
  std::int32_t segmentCount() const { return static_cast<std::int32_t>(segments_.size()); }
  /// Tasks of a segment, ascending.
  std::span<const std::int32_t> tasksOf(std::int32_t segment) const {
    return segments_[static_cast<std::size_t>(segment)].tasks;
  }
  void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override;
  /// What the reductions of a task have found, when its segment has ended; valid until the next call.
  DeviceLoops& finished(std::int32_t task);

  const ReplayCounts& counts() const { return counts_; }

 private:
  /// More ways in which generations lie are launched as any other step.
  static constexpr std::size_t kMostWays = 8;

  struct Segment {
    std::vector<std::int32_t> tasks;  ///< ascending
    bool reports = false;
    std::unique_ptr<PlanCapture> captures;
    std::vector<LaunchBatch> batches;  ///< of `captures`, by the numbers of the plan
  };
  /// A segment as captured for one way in which the generations lie.
  struct Part {
    DeviceGraph graph;
    DeviceEvent ended;                              ///< the last launch
    std::vector<std::unique_ptr<KeptLoops>> loops;  ///< by batch; null: moves
    std::vector<DeviceMoves::KeptValues> values;    ///< by batch
    std::array<double, 2> numbers{};                ///< time and dt of the closures
    std::int64_t step = 0;                          ///< likewise
    std::int64_t bytes = 0;                         ///< that the moves carry
  };
  struct Way {
    std::vector<std::int32_t> placing;
    std::vector<Part> parts;  ///< by segment
  };
  /// Where a task is found.
  struct Position {
    std::int32_t segment = 0;
    std::int32_t batch = 0;
  };

  void makeSegments(const LanePlan& plan, std::span<const std::int32_t> segmentOf);
  void prepareLane(const LanePlan& plan, std::span<const std::int32_t> segmentOf, const SegmentPeers& peers);
  void waitFor(const Part& part);
  void takeMemory(const Segment& segment, Part& part);
  bool hasChanged(const Part& part, const KeptLoops& loops) const;
  bool renewBodies(const Segment& segment, Part& part, DeviceStream stream);
  void renewValues(const Segment& segment, Part& part);
  void capture(const Segment& segment, Part& part);

  DeviceSide& side_;
  ReplaySource& source_;
  const StepInputs& inputs_;
  LaunchWatch& watch_;
  const std::int32_t watched_;
  std::vector<Segment> segments_;
  std::vector<Position> positions_;  ///< by task
  std::unique_ptr<LaneWork> work_;
  DeviceStream memoryStream_;  ///< memory is taken and given in its order
  std::vector<Way> ways_;
  Way* way_ = nullptr;                     ///< of the step at hand
  PatchOrder order_ = PatchOrder::Rising;  ///< of the next launch with bodies that is captured
  ReplayCounts counts_;
};

}  // namespace tessera::detail
