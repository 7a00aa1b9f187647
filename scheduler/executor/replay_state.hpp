#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/diagnostics/stall_report.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/executor/ready_lanes.hpp"

namespace tessera::detail {

/// All that `workers` workers need to replay one node source, allocated once.
///
/// Counters: `left` of a node is touched by its home worker alone, so plain memory. It counts down to `base`,
/// and is then set to the number of predecessors above the base of the next replay. The two bases take turns,
/// so that a counter also tells whether its node has become ready in this replay: that is for the page about
/// a stall.
struct ReplayState {
  ReplayState(NodeSource& theSource, int workers);

  /// All about one node, so that an arrival touches one cache line, seldom two.
  struct Node {
    std::int32_t left = 0;   ///< arrivals that it waits for, above the base
    std::int32_t armed = 0;  ///< its predecessors
    std::uint16_t home = 0;
    std::uint8_t lane = 0;    ///< of ReadyLanes; smaller runs earlier
    std::uint8_t urgent = 0;  ///< the lanes below this one are more urgent, and not only less slack
  };
  /// What one worker needs alone.
  struct Share {
    ReadyLanes lanes;
    std::vector<std::int32_t> first;  ///< its nodes without predecessors, the most urgent and lowest last
  };

  /// Before a replay: the bases take turns.
  void next() { std::swap(base, nextBase); }
  /// Sets all counters, which is needed only after a replay that was broken off.
  void rearm();
  /// How far each node has come; `ready` are nodes that are in no worker's lanes. Takes the lanes' nodes out.
  StalledReplay stalled(std::vector<std::int32_t> ready);

  NodeSource& source;
  std::span<Node> nodes;      ///< on a cache line's border
  std::vector<Share> shares;  ///< by worker
  std::int32_t base = 1 << 30;
  std::int32_t nextBase = 0;
  std::int64_t total = 0;    ///< nodes that run
  std::int64_t waiting = 0;  ///< of these, nodes that `poll` may finish

 private:
  struct AlignedDelete {
    void operator()(Node* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  std::unique_ptr<Node[], AlignedDelete> memory_;
};

}  // namespace tessera::detail
