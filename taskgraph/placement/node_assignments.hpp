#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <vector>

#include "taskgraph/placement/packed_values.hpp"
#include "taskgraph/placement/placed_graph.hpp"
#include "taskgraph/placement/value_flow.hpp"

namespace tessera::detail {

/// A set of places: bit 0 is the host, bit 1 + k device k.
using PlaceSet = std::uint64_t;
inline constexpr int kMostDevices = 63;

constexpr PlaceSet setOf(DeviceAssignment place) { return PlaceSet{1} << (place + 1); }
/// The host if it is there, else the first device.
constexpr DeviceAssignment firstOf(PlaceSet places) {
  return static_cast<DeviceAssignment>(std::countr_zero(places) - 1);
}
constexpr PlaceSet withoutFirst(PlaceSet places) { return places & (places - 1); }

/// Calls `visit(place)` for each place of a set, the host first.
template <class Visit>
void forEachPlace(PlaceSet places, Visit&& visit) {
  for (; places != 0; places = withoutFirst(places)) visit(firstOf(places));
}

/// Whether values of these own patches lie on one device: then so does a window that they share.
inline bool haveOneHome(std::span<const std::int32_t> locals, std::span<const DeviceAssignment> homes) {
  const auto home = [&](std::int32_t local) { return homes[static_cast<std::size_t>(local)]; };
  return std::all_of(locals.begin(), locals.end(), [&](auto n) { return home(n) == home(locals.front()); });
}

/// Where the nodes of a compiled graph run, in how many places, and which Old values that asks for.
class DeviceAssignments {
 public:
  DeviceAssignments(const CompiledGraphs& graphs, std::size_t plan, const PlaceTask& place,
                    const ValueFlow& flow, const PackedValues& packed);

  /// All places where a node is needed: one, or for fills several. The first is the node's own.
  PlaceSet of(std::int32_t node) const { return sets_[static_cast<std::size_t>(node)]; }
  /// For each pack item, the space from whose memory it is packed.
  const std::vector<DeviceAssignment>& packs() const { return packs_; }
  /// Devices whose memory a send packs from.
  PlaceSet packing(std::int32_t send) const { return packing_[static_cast<std::size_t>(send)]; }
  /// The Old values that the nodes need, in ascending order, each once.
  std::vector<OldNeed> oldNeeds() const;

 private:
  void placeTasks();
  void placeFills(const ValueFlow& flow);
  void joinGroups(const NodeBlock& block, const FillPlan& fill);
  void noteOldOfFill(const NodeBlock& block, const FillPlan& fill, bool oldBelow);
  std::vector<PlaceSet> workOfRows(const NodeBlock& block, const FillPlan& fill) const;
  void placePacks(const PackedValues& packed);
  DeviceAssignment homeOf(LabelId label, LevelId level, std::int32_t local);
  const std::vector<const TaskDeclaration*>& writersInAllPlans(const LevelLabel& what);
  DeviceAssignment ask(const TaskDeclaration& task, LevelId level, std::int32_t local) const;
  PlaceSet& set(std::int64_t node) { return sets_[static_cast<std::size_t>(node)]; }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const PlaceTask& place_;
  std::vector<PlaceSet> sets_;  ///< by node
  std::vector<DeviceAssignment> packs_;
  std::vector<PlaceSet> packing_;
  std::map<LevelLabel, PlaceSet> old_;
  std::map<LevelLabel, std::vector<const TaskDeclaration*>> writers_;
};

}  // namespace tessera::detail
