#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Whether the node uses the length of the step: tasks do unless they say `.withoutDt()`, and conditions of
/// New values hold at its end.
bool usesDt(const CompiledGraph& graph, NodeId node);

/// A node more than the graph has: whatever uses the length of the step comes after it, so that the rest can
/// run before that length is known. It gets edges to those nodes only that come after no other such node.
class StepGate {
 public:
  /// `wanted` false: no such node, the counts are those of the graph.
  StepGate(const CompiledGraph& graph, bool wanted);

  bool is(NodeId node) const { return node == node_; }
  bool exists() const { return node_.isSome(); }
  NodeId node() const { return node_; }
  /// Of all nodes, this one included.
  IdSpan<NodeId, const std::int32_t> predecessorCounts() const { return counts_; }
  std::span<const NodeId> successors() const { return successors_; }

  /// Before a step.
  void close() { state_.store(State::Closed, std::memory_order_relaxed); }
  /// The node has been run, by any thread: it waits to be opened.
  void await() { state_.store(State::Awaited, std::memory_order_release); }
  bool isAwaited() const { return state_.load(std::memory_order_acquire) == State::Awaited; }
  void open() { state_.store(State::Open, std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { Closed, Awaited, Open };

  NodeId node_;
  IdVector<NodeId, std::int32_t> counts_;
  std::vector<NodeId> successors_;
  std::atomic<State> state_{State::Closed};
};

}  // namespace tessera::detail
