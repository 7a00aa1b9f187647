#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "taskgraph/compile/declared_versions.hpp"
#include "taskgraph/compile/union_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"
#include "taskgraph/proof/race_faults.hpp"
#include "taskgraph/proof/race_messages.hpp"
#include "taskgraph/proof/touch_collector.hpp"
#include "taskgraph/proof/touches.hpp"

namespace tessera::detail {

/// What placed nodes touch, by the space whose memory it is.
using SpacedTouches = std::map<DeviceAssignment, std::vector<Touch>>;

/// Turns what the nodes of a compiled plan touch into what its placed nodes touch in the memory of the host
/// and of each device, as the runner does it: tasks in their own place, fills wherever they stand, messages
/// from where their pieces lie; contributions and received bytes are the host's.
class PlacedTouches {
 public:
  /// `nodes` are those of the compiled graphs, `placedNodes` those of the placed ones.
  PlacedTouches(std::span<const CompiledGraphs> ranks, std::size_t plan, std::span<const PlacedGraph> placed,
                const UnionGraph& nodes, const UnionGraph& placedNodes, RaceFaults& faults);

  SpacedTouches collect(const RaceMessages& messages);

 private:
  struct Stand {
    std::int64_t node = 0;  ///< of the placed nodes
    DeviceAssignment place = kOnHost;
  };
  /// Which task left a value: boxes of one memory and version do not overlap.
  struct Written {
    std::int32_t version = 0;
    Box box;
    DeviceAssignment place = kOnHost;
  };

  void findStands();
  void noteWriters(std::span<const Touch> touches);
  void startOfStep(const Touch& touch);
  void ofTask(const Touch& touch);
  void ofFill(const Touch& touch);
  void ofSends(Rank rank, const TouchCollector& collector, const PackVersions& packs);
  static Touch packed(Rank rank, const PackItem& item, std::int32_t version, const TouchCollector& collector);
  void ofCopies(Rank rank, const TouchCollector& collector);
  DeviceAssignment writtenOn(const Touch& read) const;
  bool isScattered(const Memory& memory) const;
  DeviceAssignment homeOf(const Memory& memory) const;
  void add(DeviceAssignment space, const Touch& touch, std::int64_t node);
  const CompiledGraph& graphOf(Rank rank) const {
    return ranks_[static_cast<std::size_t>(rank)].plans[plan_];
  }
  const PlacedGraph& placedOf(Rank rank) const { return placed_[static_cast<std::size_t>(rank)]; }

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  std::span<const PlacedGraph> placed_;
  const UnionGraph& nodes_;
  const UnionGraph& placedNodes_;
  RaceFaults& faults_;
  DeclaredVersions versions_;
  std::vector<std::vector<Stand>> stands_;  ///< by node of the compiled graphs: itself, twins, packs
  std::map<Memory, std::vector<Written>> written_;
  std::map<std::int64_t, std::set<Memory>> filled_;  ///< by node: memories that a fill writes
  SpacedTouches touches_;
};

}  // namespace tessera::detail
