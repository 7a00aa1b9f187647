#pragma once

#include <map>
#include <vector>

#include "taskgraph/compile/fill_shapes.hpp"
#include "taskgraph/compile/message_builder.hpp"
#include "taskgraph/compile/resolved_plan.hpp"
#include "taskgraph/edges/edge_list.hpp"
#include "taskgraph/storage/buffer_reuse.hpp"

namespace tessera::detail {

/// Turns one resolved plan into the arrays of a CompiledGraph, from one rank's point of view: the fills of
/// Old first, then unit by unit in an order that can run, each followed by the fills of what it wrote.
///
/// Cost: O(own patches x their neighbours) for each shape of fill and each edge, plus what messages carry;
/// nothing depends on the patches of other ranks beyond the neighbourhoods.
class GraphBuilder {
 public:
  /// `changes`: of a recompile; `graphs` are on the new mesh already.
  GraphBuilder(const ResolvedPlan& plan, const CompileInput& input, const CompiledGraphs& graphs,
               const MeshChanges* changes = nullptr);

  CompiledGraph build(std::vector<GatherNeed>& gathers);

 protected:  // for GraphRebuild
  void makeFills(std::vector<GatherNeed>& gathers);
  /// The shared windows that a fill fills, or that are read instead of its buffer.
  Range windowOf(const FillNeed& need) const;
  /// The fill that gathers what the halo is interpolated from, or -1.
  std::int32_t ringOf(const FillNeed& need) const;
  /// The buffers of a fill; returns the position of the first.
  std::int32_t addGathers(const FillNeed& need, std::size_t number, std::vector<GatherNeed>& gathers);
  void addUnit(std::int32_t unit);
  void addRelease(std::int32_t unit);
  void addStage(std::size_t stage);
  void addReductions();
  void addFactor(ReductionPlan& plan, LevelId level) const;
  void addAccesses(TaskUnit& made, const ResolvedUnit& unit);

  void linkUnit(std::int32_t unit);
  void linkRead(const ResolvedUnit& unit, const ResolvedRead& read, std::int32_t block);
  void linkOverwrites(std::int32_t unit);
  /// Whoever touches this version of a patch comes before `block`, which writes the same memory, on that
  /// patch. Comes after all other relations: what they imply is left out.
  void linkOverwrite(LabelId label, LevelId level, std::int32_t version, std::int32_t block);
  /// The unit that writes over this version: the next change, or the next variable in the same memory; -1:
  /// nobody.
  std::int32_t overwriterOf(LabelId label, LevelId level, std::int32_t version) const;
  /// Whether `block` waits, on a patch, for the rows of a halo fill around it anyway: it comes after another
  /// halo fill of the patch, whose sources come after those rows.
  bool waitsForRowsAround(const StagedFill& fill, std::int32_t block) const;
  void linkTakenGather(const StagedFill& fill);
  void linkFill(const StagedFill& fill);
  void linkCoarse(const StagedFill& fill);
  void linkMessages();
  /// Rows of shared windows follow the row of their first member.
  void linkShared();

  std::vector<StagedFill> fillsOf(std::size_t stage) const;
  void addMessageBlock(NodeKind kind, std::int64_t first, std::int64_t count);
  void checkTags() const;
  /// `room`: numbers for later nodes of the block are among them.
  std::int32_t addBlock(NodeKind kind, std::int32_t item, std::int64_t count, std::int64_t room,
                        std::int64_t firstLocal, int priority);
  std::int32_t blockOfUnit(std::int32_t unit) const {
    return unit < 0 ? -1 : unitBlocks_[static_cast<std::size_t>(unit)];
  }
  /// The block after which, patch by patch, what the unit writes is there.
  std::int32_t leavingBlock(std::int32_t unit) const {
    const std::int32_t release = unit < 0 ? -1 : releases_[static_cast<std::size_t>(unit)];
    return release >= 0 ? release : blockOfUnit(unit);
  }
  std::int32_t producerBlock(LabelId label, LevelId level, std::int32_t version) const {
    return leavingBlock(plan_.producerOf(label, level, version));
  }
  const StagedFill* fillFor(const ResolvedUnit& unit, const ResolvedRead& read) const;
  /// Node of a block on own patch `local`; none for block -1.
  NodeId nodeOn(std::int32_t block, std::int64_t local) const;
  NodeId messageNode(NodeKind kind, std::int32_t message) const;

  const ResolvedPlan& plan_;
  const CompileInput& input_;
  const CompiledGraphs& graphs_;
  const MeshChanges* changes_;
  CompiledGraph graph_;
  FillShapes shapes_;
  MessageBuilder messages_;
  EdgeList edges_;
  std::vector<StagedFill> fills_;
  std::vector<std::size_t> stageOfFill_;
  std::vector<std::int32_t> unitBlocks_;
  std::vector<std::int32_t> releases_;     ///< blocks, by unit; -1: none
  std::vector<std::int32_t> messageRoom_;  ///< given numbers of message blocks; empty: as many as needed
  std::size_t messageBlocks_ = 0;
  MemoryOrder shared_;
  GatherOrder sharedGathers_;
};

}  // namespace tessera::detail
