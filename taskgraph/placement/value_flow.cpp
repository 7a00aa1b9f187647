#include "taskgraph/placement/value_flow.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

bool readsInPlace(const NodeAccess& access) {
  return access.fill < 0 && access.generation == Generation::New && access.how != NodeAccess::How::Overwrite;
}

}  // namespace

ValueFlow::ValueFlow(const MoveBuilder& moves)
    : moves_(moves),
      graph_(moves.graph()),
      inputs_(graph_.blocks.size()),
      readInPlace_(graph_.blocks.size()) {
  const auto blocks = static_cast<std::int32_t>(graph_.blocks.size());
  for (const CarriedValue& value : graph_.carried) writers_[value.where] = {-1};
  for (std::int32_t b = 0; b < blocks; ++b) {
    if (block(b).kind != NodeKind::Task) continue;
    for (const UnitAccess& access : accesses(b)) {
      if (access.writes() && unit(b).part != UnitPart::AllPatches)
        writers_[{access.label, access.level}].push_back(b);
    }
    noteReadInPlace(b);
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

std::int32_t ValueFlow::writer(const LevelLabel& where, std::int32_t version) const {
  return version < 0 ? -1 : writers_.at(where)[static_cast<std::size_t>(version)];
}

std::int32_t ValueFlow::producer(const FillPlan& fill) const {
  return writer({fill.label, fill.sourceLevel}, fill.version);
}

std::int32_t ValueFlow::coarseProducer(const FillPlan& fill) const {
  // What is interpolated comes from a buffer.
  return fill.ring >= 0 ? -1 : writer({fill.label, fill.sourceLevel - 1}, fill.coarseVersion);
}

bool ValueFlow::takesCarried(std::int32_t block, const NodeAccess& access) const {
  if (!readsInPlace(access) || !graph_.carries({access.label, unit(block).level})) return false;
  const auto known = inputs(block);
  return std::none_of(known.begin(), known.end(), [&](const auto& i) { return i.label == access.label; });
}

bool ValueFlow::takesCoarse(std::int32_t fill, std::int32_t row) const {
  const std::vector<Move> moves = moves_.ofRow(fill, row);
  return std::any_of(moves.begin(), moves.end(), [](const Move& move) {
    return move.what.kind == MoveKind::Prolong && move.from.in == MoveRef::In::Entry;
  });
}

/// All nodes of a block read the same variables: the first one tells for all.
void ValueFlow::noteReadInPlace(std::int32_t number) {
  if (block(number).count == 0) return;
  forEachAccessOfTask(moves_, block(number), 0, [&](const NodeAccess& access) {
    if (readsInPlace(access)) readInPlace_[static_cast<std::size_t>(number)].push_back(access.label);
  });
}

void ValueFlow::findFillInputs(std::int32_t number) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block(number).item)];
  if (const std::int32_t from = producer(fill); from >= 0) addInput(number, {fill.label, from});
  const std::int32_t coarse = coarseProducer(fill);
  // Tasks that leave coarse cells may also be those that a gather buffer was read by before.
  if (coarse < 0 || fill.coarse.itemCount() == 0) return;
  for (std::int32_t row = 0; row < block(number).count; ++row) {
    if (takesCoarse(block(number).item, row)) return addInput(number, {fill.label, coarse});
  }
}

/// Relations between tasks join all nodes of two blocks in the same way: the first node tells for all.
void ValueFlow::findReadersOf(std::int32_t writer) {
  const NodeBlock& from = block(writer);
  if (from.count == 0 || unit(writer).level < 0) return;
  for (const NodeId next : graph_.successors(from.firstNode)) {
    const auto reader = static_cast<std::int32_t>(graph_.blockOf[next]);
    if (block(reader).kind != NodeKind::Task || unit(reader).level != unit(writer).level) continue;
    for (const LabelId label : readInPlace_[static_cast<std::size_t>(reader)]) {
      if (writes(writer, label)) addInput(reader, {label, writer});
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
