#pragma once

#include <deque>
#include <vector>

#include "taskgraph/detail/fill_needs.hpp"
#include "taskgraph/fill_geometry.hpp"

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

/// A part of a row that no patch of the level covers: `source` is the patch of the coarser level that does.
struct CoarseSource {
  PatchId reader = 0;
  const Patch* source = nullptr;
  Box region;  ///< as the reading patch counts fine indices
  Index image;
};

/// What a rank knows of the geometry of the fills of one shape.
struct ShapeData {
  std::int32_t table = 0;
  std::vector<RemoteSource> remoteSources;  ///< by row, then in the order of forEachSource
  std::vector<RemoteReader> remoteReaders;  ///< by reader, then in the same order
};

/// Looks around own patches, once for each shape; a wide shape costs nothing to the narrow ones.
class FillShapes {
 public:
  FillShapes(const CompileInput& input, const CompiledGraphs& graphs, std::vector<NeighbourTable>& tables)
      : input_(input), graphs_(graphs), tables_(tables) {}

  const ShapeData& of(const FillNeed& need);

  /// Own patches of a level, as positions in `ownPatches`.
  Range locals(LevelId level) const { return graphs_.localsOfLevel[static_cast<std::size_t>(level)]; }
  const Patch& ownPatch(std::int64_t local) const {
    return input_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
  }
  /// Position of an own patch, or -1.
  std::int32_t localOf(PatchId patch) const;
  Rank ownerOf(PatchId patch) const { return (*input_.owners)[static_cast<std::size_t>(patch)]; }
  Centering centeringOf(const FillNeed& need) const { return input_.labels->info(need.label).centering; }
  Box targetOf(const FillNeed& need, const Patch& reader) const;

  /// The parts of the reader's row that come from the coarser level, in an order that every rank derives
  /// alike. Throws PlanError where the coarser level does not reach that far.
  void coarseSources(const FillNeed& need, const Patch& reader, std::vector<CoarseSource>& found) const;

 private:
  ShapeData make(const FillNeed& need);
  void lookAround(const FillNeed& need, ShapeData& data);
  /// Throws PlanError where the patches of the coarser level do not hold all that the reader's row asks for.
  void expectProvided(const FillNeed& need, const Patch& reader, std::int64_t provided) const;
  void findRemoteReaders(const FillNeed& need, ShapeData& data);

  const CompileInput& input_;
  const CompiledGraphs& graphs_;
  std::vector<NeighbourTable>& tables_;
  std::deque<std::pair<FillShape, ShapeData>> known_;  // a deque: references handed out stay valid
};

}  // namespace tessera::detail
