#include "taskgraph/placement/packed_values.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

PackedValue valueOf(const NodeAccess& access) {
  return {access.memory.number, access.label, access.generation, -1};
}

}  // namespace

PackedValues::PackedValues(const MoveBuilder& moves, const ValueFlow& flow) {
  const CompiledGraph& graph = moves.graph();
  for (std::size_t send = 0; send < graph.sends.size(); ++send) {
    const auto first = static_cast<std::ptrdiff_t>(values_.size());
    forEachAccessOfSend(moves, static_cast<std::int32_t>(send), [&](const NodeAccess& access) {
      if (access.memory.in == MoveRef::In::Entry) values_.push_back(valueOf(access));
    });
    std::sort(values_.begin() + first, values_.end());
    values_.erase(std::unique(values_.begin() + first, values_.end()), values_.end());
    ranges_.push_back({first, static_cast<std::int64_t>(values_.size())});
  }
  if (values_.empty()) return;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& from = graph.blocks[b];
    if (from.kind != NodeKind::Task) continue;
    for (std::int32_t n = 0; n < from.count; ++n) {
      for (const NodeId next : graph.successors(from.firstNode + n)) {
        const NodeBlock& to = graph.block(next);
        if (to.kind != NodeKind::Send) continue;
        noteProducer(to.item + (next - to.firstNode), static_cast<std::int32_t>(b), from.firstLocal + n,
                     flow);
      }
    }
  }
}

std::span<const PackedValue> PackedValues::ofSend(std::int32_t send) const {
  const Range range = ranges_[static_cast<std::size_t>(send)];
  return {values_.data() + range.begin, static_cast<std::size_t>(range.size())};
}

std::span<PackedValue> PackedValues::listOf(std::int32_t send) {
  const Range range = ranges_[static_cast<std::size_t>(send)];
  return {values_.data() + range.begin, static_cast<std::size_t>(range.size())};
}

const PackedValue& PackedValues::of(std::int32_t send, const NodeAccess& access) const {
  const auto list = ofSend(send);
  return *std::lower_bound(list.begin(), list.end(), valueOf(access));
}

bool PackedValues::takes(std::int32_t send, std::int32_t producer, std::int32_t local) const {
  const auto list = ofSend(send);
  auto at = std::lower_bound(list.begin(), list.end(), PackedValue{local, -1, Generation::Old, -1});
  for (; at != list.end() && at->source == local; ++at) {
    if (at->producer == producer) return true;
  }
  return false;
}

/// A piece of New is what the last of its writers that precede the send has left.
void PackedValues::noteProducer(std::int32_t send, std::int32_t producer, std::int32_t local,
                                const ValueFlow& flow) {
  const auto list = listOf(send);
  auto at = std::lower_bound(list.begin(), list.end(), PackedValue{local, -1, Generation::Old, -1});
  for (; at != list.end() && at->source == local; ++at) {
    if (at->generation == Generation::New && flow.writes(producer, at->label))
      at->producer = std::max(at->producer, producer);
  }
}

}  // namespace tessera::detail
