#pragma once

#include <map>
#include <vector>

#include "taskgraph/compile/fill_shapes.hpp"

namespace tessera::detail {

/// A fill with the position of its plan and, once made, of its block.
struct StagedFill {
  FillNeed need;
  std::int32_t fill = 0;
  std::int32_t block = -1;
  /// Of a recompile: the slots whose halo may hold cells of the coarser level; null: look at all.
  const std::vector<std::int32_t>* coarseRows = nullptr;
};

/// Which node a message waits for, or is waited for by: settled when the blocks stand.
struct MessageLink {
  enum class Kind : std::uint8_t {
    PackFrom,  ///< send packs own patch `local` of (label, level, version)
    Forward,   ///< send passes on what receive `other` brought
    Arrives,   ///< row `row` of fill `fill` needs this receive
  };
  Kind kind = Kind::PackFrom;
  std::int32_t message = 0;  ///< position in `sends` (PackFrom, Forward) or `receives` (Arrives)
  std::int32_t other = -1;
  LabelId label = -1;
  LevelId level = 0;
  std::int32_t version = -1;
  std::int32_t local = 0;
  std::int32_t fill = 0;
  std::int32_t row = 0;
};

/// Makes the messages of a graph, stage by stage: one a peer and stage, tags counted alike on every rank.
class MessageBuilder {
 public:
  MessageBuilder(const CompileInput& input, FillShapes& shapes, CompiledGraph& graph)
      : input_(input), shapes_(shapes), graph_(graph) {}

  /// The messages of all fills of one stage, except whole levels. Fills the pieces of their plans.
  void addStage(std::span<const StagedFill> stage);
  /// A whole level, from every rank to every rank in ceil(log2 ranks) messages each: in step s a rank passes
  /// the 2^s parts that it has to the rank 2^s after it (J. Bruck et al., IEEE TPDS 8, 1997).
  void addWholeLevel(const StagedFill& fill);

  const std::vector<MessageLink>& links() const { return links_; }
  std::int64_t tags() const { return nextTag_; }

 private:
  /// Where the part of a rank lies in what has arrived.
  struct Arrived {
    std::int32_t message = -1;
    std::int64_t offset = 0;
  };

  MessagePlan& receiveFrom(Rank peer, std::map<Rank, std::int32_t>& known);
  void addReceives(const StagedFill& fill, std::map<Rank, std::int32_t>& known);
  void addCoarseReceives(const StagedFill& fill, std::map<Rank, std::int32_t>& known);
  void addSends(const StagedFill& fill, std::map<Rank, std::vector<PackItem>>& packs);
  /// The slots of the rows to look at for cells of the coarser level, in the order in which both sides count.
  std::vector<std::int32_t> rowsByPlace(const StagedFill& fill) const;
  /// The patches of other ranks whose uncovered halo may lie over own patches of the coarser level, by place.
  std::vector<const Patch*> coarseReaders(const FillNeed& need) const;
  void addCoarseSends(const StagedFill& fill, std::map<Rank, std::vector<PackItem>>& packs);
  void finishSends(std::map<Rank, std::vector<PackItem>>& packs, std::span<const StagedFill> stage);
  std::int32_t addSend(Rank peer, std::int64_t tag, const std::vector<PackItem>& items);
  std::int64_t elementBytes(LabelId label) const { return input_.labels->info(label).type.bytes(); }

  const CompileInput& input_;
  FillShapes& shapes_;
  CompiledGraph& graph_;
  std::vector<MessageLink> links_;
  std::int64_t nextTag_ = 0;
};

}  // namespace tessera::detail
