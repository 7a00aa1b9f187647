#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "taskgraph/compile/declared_versions.hpp"
#include "taskgraph/compile/union_graph.hpp"
#include "taskgraph/proof/race_messages.hpp"
#include "taskgraph/proof/race_names.hpp"
#include "taskgraph/proof/touches.hpp"

namespace tessera::detail {

/// Version of what each packed piece of each rank holds, as its receiver takes it; kUnclaimed where no fill
/// does.
using PackVersions = std::vector<std::vector<std::int32_t>>;
inline constexpr std::int32_t kUnclaimed = -2;

/// Writes down all that the nodes of one rank touch, as the step runner does it: from the declarations for
/// tasks, from fills and pack lists for the others. Notes regions that leave their memory, and reads that
/// nothing provides.
class TouchCollector {
 public:
  TouchCollector(std::span<const CompiledGraphs> ranks, std::size_t plan, Rank rank, const UnionGraph& nodes,
                 const DeclaredVersions& versions, const RaceMessages& messages, RaceFaults& faults);

  /// Collects all nodes but sends; fills claim the packed pieces that they take from messages.
  void collect(PackVersions& packs, std::vector<Touch>& touches);
  /// Collects what sends pack; after all ranks have claimed.
  void collectSends(const PackVersions& packs, std::vector<Touch>& touches);
  /// The memory of a variable on an own patch.
  Memory entry(LabelId label, Generation generation, std::int64_t local) const;

 private:
  /// One row of a fill, and where its values go. A member of a shared window is looked at as a row of the
  /// node that does the work of all of them.
  struct Row {
    const FillPlan& fill;
    const Level& level;
    Centering centering;
    std::int64_t node;
    std::int32_t row;
    Memory to;
    Box target;
    const SharedWindow* shared = nullptr;
    Box bounds;  ///< what copies may reach: the target, or the targets of all members
    Box stored;  ///< what no copy may reach: the patch writes it itself
  };

  void startOfStep();
  void task(const NodeBlock& block);
  void taskReads(const TaskUnit& unit, std::int64_t local, std::int64_t node, std::int32_t row);
  void wholeReads(const TaskUnit& unit, std::int64_t node);
  void taskWrites(const TaskUnit& unit, std::int64_t local, std::int64_t node);
  void gatherRead(const TaskUnit& unit, const ReadDeclaration& read, const Patch* patch, std::int64_t node,
                  std::int32_t row);
  void fill(const NodeBlock& block);
  Row rowOf(const NodeBlock& block, std::int32_t row) const;
  /// The fill of a read; null with a fault noted where there is none.
  const FillPlan* fillOf(const TaskUnit& unit, const ReadDeclaration& read, std::int64_t node);
  /// A task gathers the patch and its halo, and reads what it has gathered.
  void scratchRead(const FillPlan& fill, const Box& read, std::int64_t local, std::int64_t node,
                   std::int32_t row);
  void fillShared(const NodeBlock& block, const SharedWindow& shared);
  void fromNeighbours(const Row& row);
  void fromMessages(const Row& row);
  void fromCoarser(const Row& row);
  void fromRing(const Row& row, const Box& region, const DeclaredVersions::Below& below);
  void fromConditions(const Row& row);
  void expectWholeLevel(const Row& row);
  void claim(const Row& row, std::int32_t receive, std::int64_t offset, const Box& wanted, LevelId level,
             std::int32_t version);
  void receive(const NodeBlock& block);
  void reduce(const NodeBlock& block);

  void add(const Memory& memory, const Box& box, std::int64_t node, std::int32_t version, TouchKind kind);
  const SharedWindow* sharedOf(LabelId label, std::int64_t local) const;
  const Box* windowOf(const Memory& memory) const;
  const Patch& ownPatch(std::int64_t local) const {
    return own_.hierarchy->patch(own_.ownPatches[static_cast<std::size_t>(local)]);
  }
  const Level& level(LevelId number) const { return own_.hierarchy->level(number); }
  Centering centeringOf(LabelId label) const { return own_.labels->info(label).centering; }
  std::int64_t elementBytes(LabelId label) const { return own_.labels->info(label).type.bytes(); }

  const CompiledGraphs& own_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  const UnionGraph& nodes_;
  const DeclaredVersions& versions_;
  const RaceMessages& messages_;
  RaceFaults& faults_;
  RaceNames names_;
  std::map<std::pair<LabelId, std::int64_t>, StorageNeed> storage_;
  std::map<std::pair<LabelId, std::int64_t>, Box> scratch_;  ///< windows, by label and own patch
  std::set<std::array<std::int32_t, 4>> copied_;  ///< sources and images that the shared window has already
  PackVersions* packs_ = nullptr;
  std::vector<Touch>* touches_ = nullptr;
};

}  // namespace tessera::detail
