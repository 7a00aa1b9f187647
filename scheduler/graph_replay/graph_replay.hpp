#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/device/lane/launch_profiler.hpp"
#include "scheduler/device/lane/plan_capture.hpp"
#include "scheduler/device/loops/kept_loops.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/device_step/device_nodes.hpp"
#include "scheduler/device_step/lane_layout.hpp"
#include "scheduler/graph_replay/plan_buffers.hpp"
#include "scheduler/graph_replay/replay_segments.hpp"
#include "scheduler/step_inputs.hpp"

namespace tessera::detail {

struct DeviceSide;

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
class GraphReplay final : public LaneClient {
 public:
  /// All of these outlive the object but `plan`, the lane's, and `segments`, by node: a task comes behind
  /// those of its own and of lower segments alone.
  GraphReplay(DeviceSide& side, const LanePlan& plan, const LaneLayout& layout, const PlacedGraph& placed,
              const std::vector<std::int32_t>& segments, DeviceNodes& nodes, const StepInputs& inputs,
              PlanBuffers configuration);
  /// Waits for what it has launched.
  ~GraphReplay() override;
  GraphReplay(const GraphReplay&) = delete;
  GraphReplay& operator=(const GraphReplay&) = delete;

  /// Before a step. True: it is to be replayed; false: to be launched as any other.
  bool choose();
  /// Begins a step that is replayed: the segments are the tasks of the lane.
  void begin();
  /// The executor has come to a task of a step that is replayed. Any thread.
  void comeTo(std::int32_t task);
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
  static constexpr std::size_t kMostCaptured = 8;

  struct Segment {
    std::vector<std::int32_t> tasks;  ///< ascending
    bool reports = false;
    std::int32_t nodes = 0;  ///< of the executor
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
  struct CapturedStep {
    std::vector<std::int32_t> configuration;
    std::vector<Part> parts;  ///< by segment
  };
  /// Where a task is found.
  struct Position {
    std::int32_t segment = 0;
    std::int32_t batch = 0;
  };

  void makeSegments(const LanePlan& plan);
  void prepareLane(const LanePlan& plan, const SegmentPeers& peers);
  void countNodes(const LaneLayout& layout, const PlacedGraph& placed);
  void waitFor(const Part& part);
  void takeMemory(const Segment& segment, Part& part);
  bool hasChanged(const Part& part, const KeptLoops& loops) const;
  bool renewBodies(const Segment& segment, Part& part, DeviceStream stream);
  void renewValues(const Segment& segment, Part& part);
  void capture(const Segment& segment, Part& part);

  DeviceBackend& backend_;
  DeviceLane& lane_;
  DevicePool& tables_;
  DevicePool& pinned_;
  DeviceNodes& nodes_;
  const StepInputs& inputs_;
  const PlanBuffers buffers_;
  const std::int32_t watched_;           ///< the kind of a replay, for the watch of the nodes
  std::vector<std::int32_t> segmentOf_;  ///< by task
  std::vector<Segment> segments_;
  std::vector<std::atomic<std::int32_t>> missing_;  ///< by segment: nodes that the executor has not come to
  std::vector<Position> positions_;                 ///< by task
  std::unique_ptr<LaneWork> work_;
  DeviceStream memoryStream_;  ///< memory is taken and given in its order
  std::vector<CapturedStep> captured_;
  CapturedStep* current_ = nullptr;        ///< of the step at hand
  PatchOrder order_ = PatchOrder::Rising;  ///< of the next launch with bodies that is captured
  ReplayCounts counts_;
};

}  // namespace tessera::detail
