#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/row_lists.hpp"

namespace tessera {

/// Where a node runs: on the host, or on a device of the rank, counted from 0.
using DeviceAssignment = std::int8_t;
inline constexpr DeviceAssignment kOnHost = -1;

/// Where tasks run: asked for each task on each own patch (`local`; -1 for a task that runs once a rank), of
/// the plan that is placed and, for values that a plan sends but does not write, of the others. Always the
/// same answer.
using PlaceTask =
    std::function<DeviceAssignment(const TaskDeclaration& task, LevelId level, std::int32_t local)>;

/// What a node of a placed graph does.
enum class PlacedKind : std::uint8_t {
  Original,  ///< as the compiled graph says: a task, a fill, a send, a receive or a reduction
  Twin,      ///< a fill once more, in the memory of a device, where readers of it run on both sides
  Pack,      ///< the part of a send that comes from a device's memory, before the send itself
  CopyIn,    ///< owned indices of one New value from the host's memory into a device's
  CopyOut,   ///< and from a device's memory into the host's
};

/// Consecutive nodes of one kind that are launched together on a device where they are ready together.
struct PlacedBlock {
  PlacedKind kind = PlacedKind::Original;
  DeviceAssignment place = kOnHost;  ///< where its nodes run; copies run on the device they serve
  std::int32_t block = 0;            ///< position in `CompiledGraph::blocks`, of the writer for copies
  std::int32_t firstNode = 0;
  std::int32_t count = 0;
  std::int32_t firstNumber = 0;  ///< node firstNode + n stands for number firstNumber + n of `block`
  LabelId label = -1;            ///< of copies
};

/// A value of the Old generation that nodes of the plan read in the memory of some place: to be there, on
/// every own patch of the level, before the plan runs. Where patches have homes, a place that is a device
/// stands for the home of each patch that shares no window with patches of other homes.
struct OldNeed {
  LabelId label = -1;
  LevelId level = 0;
  DeviceAssignment place = kOnHost;
};

/// One compiled plan with a place for each node, the copies that this needs, and its edges dealt out to
/// their owners: the executor of the host, and the lanes of the devices.
///
/// Node numbers below `CompiledGraph::nodeCount()` mean what they mean there; those of further nodes follow.
/// A device's nodes that wait for something on the host or that something on the host waits for are nodes of
/// the executor as well: running one there hands it to the lane. Edges between two nodes of devices are those
/// of their lanes alone, all others the executor's.
struct PlacedGraph {
  std::vector<PlacedBlock>
      blocks;  ///< those of the compiled graph, cut where the place changes; then added ones
  std::vector<std::int32_t> blockOf;  ///< by node; -1: spare
  std::vector<std::int32_t>
      hostCounts;  ///< by node: predecessors in the executor's edges; -1: not of the executor
  RowLists<std::int32_t> hostEdges;  ///< by node: successors that the executor tells, ascending, each once
  /// (first, then), both on one device; ascending, each once.
  std::vector<std::pair<std::int32_t, std::int32_t>> deviceEdges;
  /// (first, then), on two devices; ascending, each once.
  std::vector<std::pair<std::int32_t, std::int32_t>> peerEdges;
  std::vector<OldNeed> oldNeeds;  ///< ascending by label, level and place, each once
  /// For each own patch, the device in whose memory its values are read wherever a device reads them, unless
  /// the patch shares a window with patches that have other homes. Empty: what a fill takes of Old or from
  /// the host's values lies in the memory of the fill's own device.
  std::vector<DeviceAssignment> homes;
  /// For each position in `CompiledGraph::packItems`, the space from whose memory the piece is packed, by the
  /// Pack node of that device or, on the host (forwarded pieces too), by the send itself.
  std::vector<DeviceAssignment> packPlaces;

  std::int64_t nodeCount() const { return static_cast<std::int64_t>(blockOf.size()); }
  const PlacedBlock& block(std::int32_t node) const {
    return blocks[static_cast<std::size_t>(blockOf[static_cast<std::size_t>(node)])];
  }
  DeviceAssignment place(std::int32_t node) const { return block(node).place; }
  /// What a node stands for, among the nodes of its block of the compiled graph.
  std::int32_t numberOf(std::int32_t node) const {
    const PlacedBlock& of = block(node);
    return of.firstNumber + node - of.firstNode;
  }
  bool ofExecutor(std::int32_t node) const { return hostCounts[static_cast<std::size_t>(node)] >= 0; }
};

/// Places the nodes of plan number `plan`. Fills run wherever their readers run; messages pack a New value
/// where the task ran that left it, and an Old one on the device on which most tasks of all plans write it on
/// that patch (on the host where none does). Receives and reductions are the host's. A fill reads what a task
/// on another device has left from that device's memory, other patches only; anything else that was written
/// in another place is copied. Pure; throws nothing but what `place` throws. Linear in edges.
///
/// `homes`: as PlacedGraph has them. Where there are some, `place` answers with the host or the patch's home,
/// and what a fill takes from the host's values of another patch is copied to that patch's home, once for all
/// devices.
PlacedGraph placeGraph(const CompiledGraphs& graphs, std::size_t plan, const PlaceTask& place,
                       std::vector<DeviceAssignment> homes = {});

}  // namespace tessera
