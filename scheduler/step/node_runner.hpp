#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "scheduler/executor.hpp"
#include "scheduler/step_inputs.hpp"
#include "scheduler/tracing/node_annotations.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// What the nodes of all kinds know of the step that is running.
struct RunningStep {
  StepInputs inputs;
  std::int64_t replay = 0;                       ///< which one of this graph it is
  std::atomic<bool> isRefused{false};            ///< tasks do nothing: the step ends in order, on every rank
  const PlacedGraph* placed = nullptr;           ///< where devices are in use
  std::unique_ptr<NodeAnnotations> annotations;  ///< where a profiler listens
};

/// A node of a compiled graph, by its place there.
struct NodeAt {
  NodeId node;
  const NodeBlock& block;
  std::int32_t number = 0;  ///< in its block

  NodeAt(const CompiledGraph& graph, NodeId id)
      : node(id), block(graph.block(id)), number(id - block.firstNode) {}
  NodeAt(const NodeBlock& of, std::int32_t n) : node(of.firstNode + n), block(of), number(n) {}
  /// Of tasks and fills: the own patch that it works on.
  std::int32_t local() const { return block.firstLocal + number; }
  /// Of sends, receives and reductions: the position in their list.
  std::int32_t item() const { return block.item + number; }
};

/// What the nodes of one kind do in the memory of the host. `run` may be called by many threads at once, for
/// different nodes; the graph's edges make sure that no two of them touch the same data.
class NodeRunner {
 public:
  /// Other ranks wait for what a node of this urgency does.
  static constexpr int kForOtherRanks = std::numeric_limits<int>::max();

  virtual ~NodeRunner() = default;
  /// Does the work of a node. False: it has started something that is reported as finished later.
  virtual bool run(const NodeAt& at, int worker) = 0;
  /// The worker that the node's data belong to.
  virtual int homeOf(const NodeAt& at, int workers) const = 0;
  virtual int urgencyOf(const NodeAt& at) const = 0;
  /// Whether `run` gives false.
  virtual bool waits(const NodeAt& /*at*/) const { return false; }
  /// The rank that has to do something before a node of which `run` gave false is finished; -1: none.
  virtual int waitsForRank(const NodeAt& /*at*/) const { return -1; }
};

/// The worker that is home to an own patch: those of each level, which lie along a space-filling curve, are
/// dealt out in ranges of equal length.
inline int homeOfPatch(const CompiledGraphs& graphs, std::int64_t local, int workers) {
  for (const Range& level : graphs.localsOfLevel) {
    if (local >= level.begin && local < level.end) {
      return static_cast<int>((local - level.begin) * workers / level.size());
    }
  }
  return 0;
}

}  // namespace tessera::detail
