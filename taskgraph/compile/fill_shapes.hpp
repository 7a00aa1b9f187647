#pragma once

#include <deque>
#include <vector>

#include "taskgraph/compile/fill_needs.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/recompile/mesh_changes.hpp"

namespace tessera::detail {

/// The geometry of a fill, without the variable: fills of one shape share their neighbour table.
struct FillShape {
  Reach reach = Reach::Patch;
  LevelId level = 0;  ///< of the sources
  LevelId readerLevel = 0;
  Centering centering = Centering::Cell;
  Halo halo;
};

/// A part of a row that another rank provides.
struct RemoteSource {
  std::int32_t row = 0;
  const Patch* source = nullptr;
  Box region;
};

/// A part of another rank's row that an own patch provides; `region` in the indices of the source.
struct RemoteReader {
  Rank rank = 0;
  PatchId reader = 0;
  std::int32_t source = 0;
  Box region;
};

/// A part of a row that no patch of the level covers: `source` is the patch of the coarser level that does;
/// null where the part is interpolated.
struct CoarseSource {
  PatchId reader = 0;
  const Patch* source = nullptr;
  Box region;  ///< as the reading patch counts fine indices
  Index image;
};

/// What a rank knows of the geometry of the fills of one shape.
struct ShapeData {
  std::int32_t table = 0;
  std::vector<RemoteSource> remoteSources;  ///< by place of the reader, then in the order of forEachSource
  std::vector<RemoteReader> remoteReaders;  ///< likewise
  /// Of a recompile: slots whose rows were made anew, and slots whose readers may be others than before;
  /// ascending. Slots that are not in use any more are left out.
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> sources;
  bool remote = false;  ///< of a recompile: what is sent or received may be different
};

/// Who reads each of some slots: `lists.row(n)` has the rows, ascending, of the readers of `slots[n]`, each
/// as often as it does.
struct ReaderLists {
  std::vector<std::int32_t> slots;
  RowLists<std::int32_t> lists;

  std::span<const std::int32_t> of(std::int32_t slot) const;
};

class SlotMarks;

/// Looks around own patches, once for each shape; a wide shape costs nothing to the narrow ones. For a
/// recompile only around those that changed: the tables are there, and shapes are asked for in the order in
/// which they were made.
class FillShapes {
 public:
  FillShapes(const CompileInput& input, const CompiledGraphs& graphs, std::vector<NeighbourTable>& tables,
             const MeshChanges* changes)
      : input_(input), graphs_(graphs), tables_(tables), changes_(changes) {}

  const ShapeData& of(const FillNeed& need);
  const ShapeData& dataOf(std::int32_t table) const { return known_[static_cast<std::size_t>(table)].data; }
  /// Of a recompile: all that other ranks provide and read through a table, not only around what changed.
  /// `rows` (of the table) and `senders` (of any) are the slots that received or sent anything before.
  void lookAtOtherRanks(std::int32_t table, std::vector<std::int32_t> rows,
                        std::span<const std::int32_t> senders);
  /// The readers of some slots (ascending) through a table.
  ReaderLists readersOf(std::int32_t table, std::vector<std::int32_t> slots) const;
  /// Slots in use of the level whose patches may read, in the given way, what lies in the regions. Ascending.
  std::vector<std::int32_t> readingSlots(LevelId sourceLevel, std::span<const Box> regions, Reach reach,
                                         const Halo& halo) const;
  enum class Remade { Done, OutOfRoom, TooMuch };
  /// Of a recompile, when all shapes have been asked for: remakes their tables where something changed; or
  /// not at all, where that is so much that a full compile is faster.
  Remade remakeAll();

  /// Own patches of a level, as positions in `ownPatches`.
  Range locals(LevelId level) const { return graphs_.localsOfLevel[static_cast<std::size_t>(level)]; }
  /// Slots of a level, spare ones included.
  std::int64_t room(LevelId level) const { return roomOf(graphs_, level).size(); }
  const Patch& ownPatch(std::int64_t local) const {
    return input_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
  }
  /// Position of an own patch, or -1.
  std::int32_t localOf(PatchId patch) const;
  Rank ownerOf(PatchId patch) const { return (*input_.owners)[static_cast<std::size_t>(patch)]; }
  Centering centeringOf(const FillNeed& need) const { return input_.labels->info(need.label).centering; }
  Box targetOf(const FillNeed& need, const Patch& reader) const;
  /// The halo of a fill in cells of the next coarser level, rounded up.
  Halo haloBelow(const FillNeed& need) const {
    return tessera::haloBelow(need.halo, input_.hierarchy->level(need.level).ratioToCoarser());
  }

  /// The parts of the reader's row that come from the coarser level, in an order that every rank derives
  /// alike. Throws PlanError where the coarser level does not reach that far.
  void coarseSources(const FillNeed& need, const Patch& reader, std::vector<CoarseSource>& found) const;

 private:
  struct Known {
    FillShape shape;
    FillNeed need;  ///< the first of that shape
    ShapeData data;
  };

  ShapeData make(const FillNeed& need);
  void lookAround(const FillNeed& need, ShapeData& data);
  /// Appends the sources of one row.
  void addRow(const FillNeed& need, std::int64_t local, std::vector<Neighbour>& own,
              std::vector<RemoteSource>& remote) const;
  /// Throws PlanError where the patches of the coarser level do not hold all that the reader's row asks for.
  void expectProvided(const FillNeed& need, const Patch& reader, std::int64_t provided) const;
  void sortRemoteSources(const FillNeed& need, ShapeData& data) const;
  /// What other ranks read of these own slots.
  void findRemoteReaders(const FillNeed& need, std::span<const std::int32_t> slots, ShapeData& data) const;

  /// Finds the rows; `remakeAll` does the rest. False, from its parts, where a table lacks room.
  ShapeData remake(const FillNeed& need);
  bool remakeWholeLevel(const FillNeed& need, ShapeData& data);
  std::vector<std::int32_t> rowsToRemake(const FillNeed& need) const;
  bool remakeRows(const FillNeed& need, ShapeData& data);
  bool touchesOtherRanks(const FillNeed& need) const;
  /// Own slots that patches of other ranks, those that changed, may read.
  template <class Visit>
  void forEachSlotReadAnew(const FillNeed& need, Visit&& visit) const;
  /// Of a recompile: whether a patch that stays may get more readers where another one vanishes, or fewer:
  /// borders that are open belong to the first patch beside them.
  bool mayPassOn(const FillNeed& need) const { return centeringOf(need) != Centering::Cell; }
  /// Marks own slots beside what changed on a level.
  void markBeside(LevelId level, SlotMarks& marks) const;
  const LevelChanges& changesOf(LevelId level) const {
    return changes_->levels[static_cast<std::size_t>(level)];
  }

  const CompileInput& input_;
  const CompiledGraphs& graphs_;
  std::vector<NeighbourTable>& tables_;
  const MeshChanges* changes_;  ///< null in a full compile
  std::deque<Known> known_;     // a deque: references handed out stay valid
};

}  // namespace tessera::detail
