#pragma once

#include <map>
#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// A New value that the nodes of a block read where it lies, and the task block that leaves it.
struct ValueInput {
  LabelId label = -1;
  std::int32_t producer = -1;
};

/// Tells, from a compiled graph alone, by which edges a value goes from a task to its readers; the
/// other edges only keep an order. Blocks of tasks stand in an order that can run, so the writers of a label
/// on a level are its versions, and of the writers that precede a reader on its patch the last is the one it
/// means.
class ValueFlow {
 public:
  explicit ValueFlow(const CompiledGraph& graph);

  /// What a task reads on its own patch, not through a fill, or changes in place; what a fill takes from own
  /// patches. Each once.
  std::span<const ValueInput> inputs(std::int32_t block) const {
    return inputs_[static_cast<std::size_t>(block)];
  }
  /// The block of tasks that leaves the coarse cells around the level of a fill; -1: they are Old.
  std::int32_t coarseProducer(const FillPlan& fill) const;
  bool writes(std::int32_t block, LabelId label) const;

 private:
  const NodeBlock& block(std::int32_t n) const { return graph_.blocks[static_cast<std::size_t>(n)]; }
  const TaskUnit& unit(std::int32_t n) const { return graph_.units[static_cast<std::size_t>(block(n).item)]; }
  std::span<const UnitAccess> accesses(std::int32_t block) const;
  std::span<const std::int32_t> writers(LabelId label, LevelId level) const;
  void findFillInputs(std::int32_t block);
  void findReadersOf(std::int32_t writer);
  void addInput(std::int32_t block, ValueInput input);

  const CompiledGraph& graph_;
  std::map<LevelLabel, std::vector<std::int32_t>> writers_;  ///< blocks, by version
  std::vector<std::vector<ValueInput>> inputs_;              ///< by block
};

}  // namespace tessera::detail
