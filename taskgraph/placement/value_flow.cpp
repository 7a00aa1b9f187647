#include "taskgraph/placement/value_flow.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

bool readsInPlace(const UnitAccess& access) {
  return access.mode == AccessMode::Modify ||
         (access.mode == AccessMode::ReadNew && access.reach == Reach::Patch && access.fill < 0);
}

bool takesCoarse(const FillPlan& fill, std::int32_t rows) {
  for (std::int32_t row = 0; row < rows; ++row) {
    for (const CoarsePiece& piece : fill.coarse.row(row)) {
      if (piece.source >= 0) return true;
    }
  }
  return false;
}

}  // namespace

ValueFlow::ValueFlow(const CompiledGraph& graph) : graph_(graph), inputs_(graph.blocks.size()) {
  const auto blocks = static_cast<std::int32_t>(graph.blocks.size());
  for (std::int32_t b = 0; b < blocks; ++b) {
    if (block(b).kind != NodeKind::Task) continue;
    for (const UnitAccess& access : accesses(b)) {
      if (access.writes()) writers_[{access.label, access.level}].push_back(b);
    }
  }
  for (std::int32_t b = 0; b < blocks; ++b) {
    if (block(b).kind == NodeKind::Task) findReadersOf(b);
    if (block(b).kind == NodeKind::Fill) findFillInputs(b);
  }
}

std::span<const UnitAccess> ValueFlow::accesses(std::int32_t block) const {
  const Range range = unit(block).accesses;
  return {graph_.accesses.data() + range.begin, static_cast<std::size_t>(range.size())};
}

bool ValueFlow::writes(std::int32_t block, LabelId label) const {
  const auto list = accesses(block);
  return std::any_of(list.begin(), list.end(),
                     [&](const UnitAccess& access) { return access.writes() && access.label == label; });
}

std::span<const std::int32_t> ValueFlow::writers(LabelId label, LevelId level) const {
  const auto found = writers_.find({label, level});
  if (found == writers_.end()) return {};
  return found->second;
}

std::int32_t ValueFlow::coarseProducer(const FillPlan& fill) const {
  const auto coarse = writers(fill.label, fill.sourceLevel - 1);
  if (fill.version < 0 || coarse.empty()) return -1;
  // What the task that left the fine value left there as well, else the last value.
  const auto fine = writers(fill.label, fill.sourceLevel)[static_cast<std::size_t>(fill.version)];
  const auto same = std::find_if(coarse.begin(), coarse.end(),
                                 [&](std::int32_t other) { return unit(other).task == unit(fine).task; });
  return same == coarse.end() ? coarse.back() : *same;
}

void ValueFlow::findFillInputs(std::int32_t number) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block(number).item)];
  if (fill.version < 0) return;
  const auto level = writers(fill.label, fill.sourceLevel);
  addInput(number, {fill.label, level[static_cast<std::size_t>(fill.version)]});
  const std::int32_t coarse = coarseProducer(fill);
  // Tasks that leave coarse cells may also be those that a gather buffer was read by before.
  if (coarse >= 0 && takesCoarse(fill, block(number).count)) addInput(number, {fill.label, coarse});
}

/// Relations between tasks join all nodes of two blocks in the same way: the first node tells for all.
void ValueFlow::findReadersOf(std::int32_t writer) {
  const NodeBlock& from = block(writer);
  if (from.count == 0 || unit(writer).level < 0) return;
  for (const NodeId next : graph_.successors(from.firstNode)) {
    const auto reader = static_cast<std::int32_t>(graph_.blockOf[next]);
    if (block(reader).kind != NodeKind::Task || unit(reader).level != unit(writer).level) continue;
    for (const UnitAccess& access : accesses(reader)) {
      if (readsInPlace(access) && writes(writer, access.label)) addInput(reader, {access.label, writer});
    }
  }
}

void ValueFlow::addInput(std::int32_t block, ValueInput input) {
  std::vector<ValueInput>& known = inputs_[static_cast<std::size_t>(block)];
  const bool isTask = this->block(block).kind == NodeKind::Task;
  for (ValueInput& other : known) {
    if (other.label != input.label || (!isTask && other.producer != input.producer)) continue;
    other.producer = std::max(other.producer, input.producer);
    return;
  }
  known.push_back(input);
}

}  // namespace tessera::detail
