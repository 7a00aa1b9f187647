#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/transport/transport.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// What a rank gives to one reduction; in place it becomes what all ranks together give.
struct ReductionState {
  double value = 0.0;  ///< of Min and Max
  ExactSum sum;
};

/// The reductions of one run of a graph. They are started in the order of the plan, which is the same on
/// every rank, whatever became ready first; so it may be that one waits for another of this rank. They may be
/// under way when the run's own part is done, and beside the next run: then two rounds take turns.
///
/// Threads: `state` by whoever joins that reduction; all else by one at a time.
class ReductionRound {
 public:
  /// `trace` may be null.
  ReductionRound(const CompiledGraph& graph, Transport& transport, Trace* trace);

  /// Before a run; the last one of this round is complete. A trace has begun its record of the run.
  void begin();
  ReductionState& state(std::int32_t reduction) { return states_[static_cast<std::size_t>(reduction)]; }

  /// This rank's share of the reduction is in its state; `node` stands for it.
  void add(std::int32_t reduction, NodeId node);
  /// Starts what can be started, and gives its numbers; valid until the next call.
  std::span<const std::int32_t> start();
  /// Looks after what is under way: the numbers of those that have become complete, valid until the next
  /// call.
  std::span<const std::int32_t> test();

  NodeId nodeOf(std::int32_t reduction) const { return nodes_[static_cast<std::size_t>(reduction)]; }
  /// Whether all reductions of the plan have been started, and are complete.
  bool complete() const { return done_ == states_.size(); }
  /// Nodes of those that were added and are not complete.
  void appendOpenNodes(std::vector<NodeId>& nodes) const;
  /// Writes the results, by ReductionLabel; once complete.
  void takeResults(std::span<double> byLabel) const;

 private:
  struct Pending {
    Transport::Request request = 0;
    std::int32_t reduction = 0;
  };

  Transport::Request startOne(std::int32_t reduction);

  const CompiledGraph& graph_;
  Transport& transport_;
  Trace* trace_;
  NodeTimes* times_ = nullptr;  ///< of the traced run
  std::vector<ReductionState> states_;
  std::vector<NodeId> nodes_;  ///< by reduction; none: not added
  std::size_t next_ = 0;       ///< the first that was not started
  std::size_t done_ = 0;
  std::vector<Pending> pending_;
  std::vector<std::int32_t> found_;
};

}  // namespace tessera::detail
