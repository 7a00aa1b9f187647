#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/device/lane/lane_work.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// The nodes of one plan that run on one device, numbered as the tasks of its lane: in the order of the
/// graph. What a placement has cut, because patches in between are another device's, is of one kind of the
/// lane all the same. Made once for a placement; does not change afterwards.
class LaneLayout {
 public:
  /// Whether a row of a fill takes values from the memory of another device of the rank.
  using TakesFromPeers = std::function<bool(std::int32_t fill, std::int32_t row)>;

  /// `device`: the position among the rank's. `streams`: the most that a task may be split over. Graphs
  /// outlive the object.
  LaneLayout(const CompiledGraph& graph, const PlacedGraph& placed, DeviceAssignment device,
             std::int32_t streams, const TakesFromPeers& takesFromPeers);

  /// What the lane is told, with all edges of its tasks.
  LanePlan plan() const;

  /// By task: nodes of the placed graph.
  std::span<const std::int32_t> nodes() const { return nodes_; }
  std::int32_t nodeOf(std::int32_t task) const { return nodes_[static_cast<std::size_t>(task)]; }
  /// Of a node of this device.
  std::int32_t taskOf(std::int32_t node) const { return taskOf_[static_cast<std::size_t>(node)]; }
  /// What a task stands for, in its block of the compiled graph.
  std::int32_t numberOf(std::int32_t task) const { return placed_.numberOf(nodeOf(task)); }
  const PlacedBlock& blockOf(std::int32_t task) const { return placed_.block(nodeOf(task)); }
  std::int32_t kindCount() const { return static_cast<std::int32_t>(kinds_.size()); }
  /// One of the blocks whose nodes are of this kind: their tasks are launched together.
  const PlacedBlock& kind(std::int32_t kind) const {
    return placed_.blocks[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(kind)])];
  }
  /// Whether the host hears of the end of a task.
  bool reports(std::int32_t task) const { return tasks_[static_cast<std::size_t>(task)].reports; }
  /// Tasks that wait for nothing on the host.
  std::span<const Range> first() const { return first_; }
  /// Whether some task is `independentOfPeers` (LaneTask).
  bool startsIndependent() const { return startsIndependent_; }

 private:
  bool readsHost(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const;
  bool crossesTheBus(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const;
  LaneTask laneTask(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node,
                    const TakesFromPeers& takesFromPeers) const;
  void addPeerEdges(LanePlan& lane) const;

  const CompiledGraph& graph_;
  const PlacedGraph& placed_;
  const std::int32_t streams_;
  std::vector<LaneTask> tasks_;
  std::vector<std::int32_t> nodes_;   ///< by task
  std::vector<std::int32_t> taskOf_;  ///< by node; -1: not of this device
  std::vector<std::int32_t> kinds_;   ///< by kind: a position in the placed graph's blocks
  std::vector<Range> first_;
  bool startsIndependent_ = false;
};

}  // namespace tessera::detail
