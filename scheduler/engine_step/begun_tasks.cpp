#include "scheduler/engine_step/begun_tasks.hpp"

namespace tessera::detail {
namespace {

bool begins(const CompiledGraph& graph, const NodeBlock& block) {
  return block.kind == NodeKind::Task && graph.declarationOf(graph.unitOf(block)).body.begins != nullptr;
}

std::size_t slotsOf(const CompiledGraph& graph) {
  std::size_t count = 0;
  for (const NodeBlock& block : graph.blocks) {
    if (begins(graph, block)) count += static_cast<std::size_t>(block.count);
  }
  return count;
}

}  // namespace

BegunTasks::BegunTasks(const CompiledGraph& graph)
    : blocks_(graph.blocks.data()),
      firstOfBlock_(graph.blocks.size(), -1),
      slots_(slotsOf(graph)),
      submitted_(slots_.size()) {
  std::int64_t next = 0;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& block = graph.blocks[b];
    if (!begins(graph, block)) continue;
    firstOfBlock_[b] = next;
    for (std::int32_t n = 0; n < block.count; ++n)
      slots_[static_cast<std::size_t>(next++)].node = block.firstNode + n;
  }
  open_.reserve(slots_.size());
}

void BegunTasks::takeSubmitted() {
  submitted_.takeAll([this](std::int32_t number) {
    slots_[static_cast<std::size_t>(number)].isOpen = true;
    open_.push_back(static_cast<std::size_t>(number));
  });
}

void BegunTasks::appendBegun(std::vector<NodeId>& nodes) {
  takeSubmitted();
  for (const std::size_t number : open_) nodes.push_back(slots_[number].node);
}

std::string BegunTasks::waitsFor(const NodeBlock& block, std::int32_t number) const {
  if (firstOfBlock_[static_cast<std::size_t>(&block - blocks_)] < 0) return {};
  const Slot& slot = slots_[placeOf(block, number)];
  return slot.isOpen && slot.work != nullptr ? slot.work->text() : std::string();
}

void BegunTasks::giveUp() {
  takeSubmitted();
  for (const std::size_t number : open_) close(slots_[number]);
  open_.clear();
}

}  // namespace tessera::detail
