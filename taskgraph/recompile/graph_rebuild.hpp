#pragma once

#include <optional>
#include <vector>

#include "taskgraph/compile/graph_builder.hpp"

namespace tessera::detail {

/// A builder that starts from the graph of the old mesh: it keeps slots and redoes only what has to do with
/// patches that changed.
class GraphRebuild final : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

  /// Turns the graph of the old mesh into what `build` would make, in the same slots. Nothing where it lacks
  /// room, or where too much has changed for this to be faster than a full compile.
  std::optional<CompiledGraph> rebuild(CompiledGraph previous, std::vector<GatherNeed>& gathers);
  /// Whether the last `rebuild` gave up because most patches had changed.
  bool tooMuch() const { return tooMuch_; }

 private:
  void adoptBlocks();
  /// Whether rows may follow others as leads of their groups than before.
  bool adoptWindows();
  void renewGathers(std::vector<GatherNeed>& gathers);
  bool messagesChange() const;
  bool renewMessages();
  bool sendAnew();
  bool renewCoarseRows();
  std::vector<std::int32_t> coarseRowsToRenew(const StagedFill& fill) const;
  void countNodes();
  void linkAll();
  const LevelChanges& changesOf(LevelId level) const {
    return changes_->levels[static_cast<std::size_t>(level)];
  }

  bool tooMuch_ = false;
};

}  // namespace tessera::detail
