#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/id_vector.hpp"
#include "grid/access_mode.hpp"
#include "grid/generation.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/region_move.hpp"
#include "taskgraph/ids.hpp"
#include "taskgraph/row_lists.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// A half-open range of a flat list.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a node of a compiled graph does.
enum class NodeKind : std::uint8_t {
  Task,     ///< one task on one own patch, or once a rank
  Fill,     ///< fills a halo, or gathers cells of another level: copies, unpacking, boundary conditions
  Send,     ///< packs and sends one message
  Receive,  ///< waits for one message
  Reduce,   ///< joins the contributions of all patches and ranks
};

/// Consecutive nodes of one kind. Node `firstNode + n` works on own patch `firstLocal + n` (Task and Fill) or
/// is message or reduction `item + n` of its list. Numbers from `firstNode + count` up to the next block are
/// spare: no node has them now, a recompile may use them.
struct NodeBlock {
  NodeKind kind = NodeKind::Task;
  std::int32_t item = 0;  ///< position in `units`, `fills`, `sends`, `receives` or `reductions`
  NodeId firstNode{0};
  std::int32_t count = 0;
  std::int32_t firstLocal = 0;
  int priority = 0;  ///< as declared; 0 for all but tasks
  /// How many blocks shorter the longest way of edges through this one is than the longest of the graph: 0 on
  /// the critical path.
  int slack = 0;
  friend bool operator==(const NodeBlock&, const NodeBlock&) = default;
};

/// One declared access of a task on one level.
struct UnitAccess {
  AccessMode mode = AccessMode::ReadOld;
  LabelId label = -1;
  LevelId level = 0;  ///< whose indices and values
  Reach reach = Reach::Patch;
  Halo halo;               ///< as declared by this task
  std::int32_t fill = -1;  ///< the fill that provides it; needed to find gathered data
  bool facesOnly = false;  ///< of `halo`: no edges and corners
  bool writes() const { return isOutput(mode); }
  friend bool operator==(const UnitAccess&, const UnitAccess&) = default;
};

/// Which part of a task the nodes of a block are.
enum class UnitPart : std::uint8_t {
  Patch,       ///< all of it: on each own patch of the level, or once a rank
  AllPatches,  ///< one node, which works on all own patches of the level
  Release,     ///< lets go, patch by patch, of what such a node has written: does nothing itself
};

/// One task on one level (-1: once a rank).
struct TaskUnit {
  TaskId task{0};
  LevelId level = 0;
  Range accesses;
  Range contributions;  ///< of the first node; those of the next node follow
  UnitPart part = UnitPart::Patch;
  /// Whether each node works on one patch.
  bool hasPatch() const { return level >= 0 && part != UnitPart::AllPatches; }
  friend bool operator==(const TaskUnit&, const TaskUnit&) = default;
};

/// Where a part of a fill comes from: own patch `source`, seen `image` periods away.
struct Neighbour {
  std::int32_t source = 0;
  std::int8_t image[3] = {0, 0, 0};
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

/// For each row (own patch of the reading level) the own patches that it takes data from. Fills with the same
/// geometry share one table, however many variables they serve.
using NeighbourTable = RowLists<Neighbour>;

/// A piece of a received message that belongs into a fill.
struct FillPiece {
  std::int32_t message = 0;  ///< position in `receives`
  std::int64_t offset = 0;   ///< bytes from the start of the message
  Box region;                ///< indices of the fill's level
  friend bool operator==(const FillPiece&, const FillPiece&) = default;
};

/// Cells of a halo that no patch of the level covers: they take the value of the coarser cell they lie in, or
/// what a ring of coarser cells around them says (FillPlan::ring).
struct CoarsePiece {
  std::int32_t source = -1;   ///< own patch of the coarser level, or -1; always where there is a ring
  std::int32_t message = -1;  ///< else: position in `receives`; -1 where there is a ring
  std::int64_t offset = 0;    ///< bytes; the message holds the coarse cells of `region`
  Box region;                 ///< fine indices as the reading patch counts them
  Index image;                ///< periods between them and the source
  friend bool operator==(const CoarsePiece&, const CoarsePiece&) = default;
};

/// A New value that an earlier item of a step program leaves: version 0 of the label on the level, without a
/// task of the plan that leaves it.
struct CarriedValue {
  LevelLabel where;
  /// Names of the tasks and calls of which one has left it, ascending, each once.
  std::vector<std::string> from;
  friend bool operator==(const CarriedValue&, const CarriedValue&) = default;
};

/// In a plan that writes New of `by` on the coarser level, halos of `label` that reach beyond their level are
/// interpolated from that, and not from `label` on the coarser level: it has its value at another time.
struct StandIn {
  LabelId label = -1;
  Generation generation = Generation::Old;  ///< of `label`
  LabelId by = -1;
  friend bool operator==(const StandIn&, const StandIn&) = default;
};

/// All that fills one variable around, under or over the own patches of a level: row n serves own patch
/// `firstLocal + n` of its block. A whole level has a single row.
struct FillPlan {
  LabelId label = -1;
  Generation generation = Generation::Old;
  std::int32_t version = -1;  ///< of New; -1 is Old
  /// Of the coarser level, where the label has halo cells outside of its level; -1 is Old.
  std::int32_t coarseVersion = -1;
  /// Position of the fill of the same rows that gathers the coarser cells from which those outside of the
  /// level are interpolated; -1: they are copied, or there are none.
  std::int32_t ring = -1;
  Reach reach = Reach::Patch;
  /// How it takes what patches of the source level own: by copies, or as means of the finer cells in each
  /// coarse one; then a gather has the indices of the level of its readers.
  MoveKind how = MoveKind::Copy;
  LevelId sourceLevel = 0;        ///< whose indices
  LevelId readerLevel = 0;        ///< whose patches the rows follow
  Halo halo;                      ///< the widest that a task of the plan asks for
  std::int32_t table = -1;        ///< position in `tables`
  std::int32_t firstGather = -1;  ///< buffer of row 0; -1 where the patch's own memory is filled in place
  /// As LevelStorage::scratch: the fill's own nodes do nothing but keep the order, its row is carried out for
  /// the task that reads it, at the start of that task.
  bool scratch = false;
  /// Of CompiledGraphs::shared: the row of a first member fills for the whole group. For a whole level: the
  /// window that is read instead of a buffer.
  Range shared;
  RowLists<FillPiece> pieces;
  RowLists<CoarsePiece> coarse;
};

/// A piece of a message to send.
struct PackItem {
  LabelId label = -1;
  Generation generation = Generation::Old;
  std::int32_t source = -1;  ///< own patch, or -1 for bytes of a message received before (`forward`)
  std::int32_t forward = -1;
  std::int64_t forwardOffset = 0;
  Box region;               ///< indices of the source patch
  std::int64_t offset = 0;  ///< bytes from the start of the message
  std::int64_t bytes = 0;
  friend bool operator==(const PackItem&, const PackItem&) = default;
};

/// One message a peer and stage. Both sides derive it from the same geometry, so tags are dense and need no
/// talk.
struct MessagePlan {
  Rank peer = 0;
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
  Range items;  ///< PackItems of a send; empty for a receive
  friend bool operator==(const MessagePlan&, const MessagePlan&) = default;
};

/// `before` precedes `after`; node numbers.
struct NodeEdge {
  NodeId before;
  NodeId after;
  friend auto operator<=>(const NodeEdge&, const NodeEdge&) = default;
};

/// One reduction of the plan; every rank has the same list in the same order.
struct ReductionPlan {
  LabelId reduction = -1;
  ReductionKind kind = ReductionKind::Min;
  std::vector<std::int32_t> blocks;  ///< node blocks of the tasks that contribute
  std::vector<double> factors{};     ///< of each block: what its contributions count; empty: 1
  friend bool operator==(const ReductionPlan&, const ReductionPlan&) = default;
};

/// Everything needed to run one step plan from one rank's point of view: flat arrays, resolved to own
/// patches. Immutable; shared by all threads.
struct CompiledGraph {
  const StepPlan* plan = nullptr;

  std::vector<NodeBlock>
      blocks;  ///< ascending in firstNode; every edge goes from a lower node to a higher one
  IdVector<NodeId, std::uint16_t> blockOf;           ///< by node
  IdVector<NodeId, std::int32_t> predecessorCounts;  ///< by node; -1 where the number is spare
  RowLists<NodeId, NodeId> successorLists;           ///< by node

  std::vector<TaskUnit> units;
  std::vector<UnitAccess> accesses;
  std::vector<FillPlan> fills;
  std::vector<NeighbourTable> tables;
  std::vector<MessagePlan> sends;
  std::vector<MessagePlan> receives;
  std::vector<PackItem> packItems;
  std::vector<ReductionPlan> reductions;
  std::int64_t contributionCount = 0;
  int longestWay = 0;  ///< edges from block to block on the critical path

  std::vector<LevelLabel> written;  ///< whose New value becomes Old after the step
  /// What the plan reads or changes of the New values that earlier items of a step program leave; ascending.
  std::vector<CarriedValue> carried;
  std::vector<StandIn> standIns;  ///< as the input has them
  /// Whether New values become Old ones as soon as the plan ends; not where it is one of several items of a
  /// step program.
  bool endsStep = true;

  /// Edges that follow from no relation between blocks: those of messages and of cells under a halo.
  /// Ascending; kept for the next recompile.
  std::vector<NodeEdge> singleEdges;

  /// Node numbers, spare ones included.
  std::int64_t nodeCount() const { return static_cast<std::int64_t>(blockOf.size()); }
  /// All node numbers, spare ones included.
  IdRange<NodeId> nodes() const { return blockOf.ids(); }
  std::int64_t edgeCount() const { return successorLists.itemCount(); }
  bool isSpare(NodeId node) const { return predecessorCounts[node] < 0; }
  const NodeBlock& block(NodeId node) const { return blocks[blockOf[node]]; }
  std::span<const NodeId> successors(NodeId node) const { return successorLists.row(node); }
  /// Whether version 0 of the label on the level is a carried value.
  bool carries(const LevelLabel& where) const {
    return std::any_of(carried.begin(), carried.end(), [&](const auto& c) { return c.where == where; });
  }
  /// What the nodes of a block of tasks do.
  const TaskUnit& unitOf(const NodeBlock& block) const { return units[static_cast<std::size_t>(block.item)]; }
  /// Whether the block is a single node that works on all own patches of a level.
  bool worksOnAllPatches(const NodeBlock& block) const {
    return block.kind == NodeKind::Task && unitOf(block).part == UnitPart::AllPatches;
  }
  /// What the nodes of a block of fills fill.
  const FillPlan& fillOf(const NodeBlock& block) const { return fills[static_cast<std::size_t>(block.item)]; }
  const TaskDeclaration& declarationOf(const TaskUnit& unit) const { return plan->task(unit.task); }
  std::span<const UnitAccess> accessesOf(const TaskUnit& unit) const {
    return std::span(accesses).subspan(static_cast<std::size_t>(unit.accesses.begin),
                                       static_cast<std::size_t>(unit.accesses.size()));
  }
  /// Whether the task gathers this for itself, halo and all.
  bool isScratch(const UnitAccess& access) const {
    return access.fill >= 0 && fills[static_cast<std::size_t>(access.fill)].scratch;
  }
};

/// What has to be stored of one variable on every own patch of a level.
struct LevelStorage {
  LabelId label = -1;
  LevelId level = 0;
  Halo halo;  ///< the widest that a task of any plan reads; none where halos are gathered into scratch
  bool hasOld = true;
  /// Variables of one slot are never in use at the same time and share their memory, patch by patch; a slot
  /// belongs to one level. -1: memory of its own.
  std::int32_t slot = -1;
  Range shared;  ///< of CompiledGraphs::shared; empty where each patch keeps memory of its own
  /// Only what the patches own is stored. The task that reads a halo, one in each plan and always of Old, has
  /// a scratch window of its worker filled with the patch and its halo just before it runs.
  bool scratch = false;
  friend bool operator==(const LevelStorage&, const LevelStorage&) = default;
};

/// Own patches whose windows of one variable overlap so widely that they are stored as one. What one of them
/// owns is at once in the halo of the others. Only for variables of which no plan changes, in place, a
/// version whose halo is read: nobody keeps the version before the change.
struct SharedWindow {
  LabelId label = -1;
  LevelId level = 0;
  Box window;
  std::vector<std::int32_t> members;  ///< own patches, ascending; the first one's row fills the halo for all
  bool full = false;                  ///< what the members own fills a box, so the window has no void
  /// All patches of a level that tasks read whole: they read the window itself, and nothing is gathered.
  bool whole = false;
  friend bool operator==(const SharedWindow&, const SharedWindow&) = default;
};

/// Whether what a member of a shared window takes from there is in the window already.
inline bool isInside(const SharedWindow& shared, const Neighbour& from) {
  const bool moved = from.image[0] != 0 || from.image[1] != 0 || from.image[2] != 0;
  return !moved && std::binary_search(shared.members.begin(), shared.members.end(), from.source);
}

/// Bytes of one generation of a shared window.
inline std::int64_t bytesOf(const SharedWindow& shared, std::int64_t elementBytes) {
  return shared.window.volume() * elementBytes;
}

/// What one rank has to store of one variable on one own patch; see `storageNeeds`.
struct StorageNeed {
  LabelId label = -1;
  PatchId patch = 0;
  Box window;  ///< what the patch needs; a shared window is larger
  bool hasOld = true;
  std::int32_t slot = -1;    ///< as in LevelStorage
  std::int32_t shared = -1;  ///< position in CompiledGraphs::shared, or -1
};

/// A buffer for cells of another level, or of a whole level; in use from its fill to its last reader.
struct GatherNeed {
  LabelId label = -1;
  Box window;             ///< indices of the level that the cells come from
  std::int32_t slot = 0;  ///< buffers of one slot are never in use at the same time, and share memory
  friend bool operator==(const GatherNeed&, const GatherNeed&) = default;
};

/// Where own patches and messages stand in the numbering of a rank, and what is kept free between them. Two
/// compiles of the same input with the same slots are equal, entry by entry.
struct GraphSlots {
  std::vector<PatchId> patches;  ///< by slot, level after level; -1: spare
  std::vector<Range> levels;     ///< by level, the slots in use; spare ones follow
  /// By plan, for how many messages each block of them has numbers; empty: as many as it needs, and a few.
  std::vector<std::vector<std::int32_t>> messages;
};

/// The compiled plans of a simulation and the memory they share.
struct CompiledGraphs {
  std::shared_ptr<const Hierarchy> hierarchy;
  const LabelTable* labels = nullptr;
  Rank rank = 0;
  /// The own patch of each slot, level after level; -1 where a slot is spare. Ascending and without spare
  /// slots unless the graphs were compiled for given slots or recompiled.
  std::vector<PatchId> ownPatches;
  std::vector<Range> localsOfLevel;  ///< by level, the slots in use (positions in `ownPatches`)
  /// The slot of each patch of the hierarchy, -1 for those of other ranks. Empty while `ownPatches` is
  /// ascending.
  std::vector<std::int32_t> localOfPatch;
  std::vector<CompiledGraph> plans;
  std::vector<LevelStorage> storage;
  std::vector<SharedWindow> shared;  ///< of all variables and levels
  /// By plan; plans do not run at the same time. Those of spare slots are empty.
  std::vector<std::vector<GatherNeed>> gathers;

  std::int64_t ownPatchCount() const {
    std::int64_t count = 0;
    for (const Range& level : localsOfLevel) count += level.size();
    return count;
  }
};

/// What `storage` means on own patch `local` of its level.
StorageNeed storageNeed(const CompiledGraphs& graphs, const LevelStorage& storage, std::int64_t local);

/// The slots of a level, spare ones included.
Range roomOf(const CompiledGraphs& graphs, LevelId level);

/// The slots that the graphs stand in.
GraphSlots slotsOf(const CompiledGraphs& graphs);

/// The entries behind `graphs.storage`, by label, then own patch.
std::vector<StorageNeed> storageNeeds(const CompiledGraphs& graphs);

}  // namespace tessera
