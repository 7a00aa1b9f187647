#pragma once

#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/value_flow.hpp"

namespace tessera::detail {

/// A value on an own patch that pieces of one message are packed from.
struct PackedValue {
  std::int32_t source = -1;  ///< own patch
  LabelId label = -1;
  Generation generation = Generation::Old;
  std::int32_t producer = -1;  ///< block of the tasks that left it; -1: Old

  friend auto operator<=>(const PackedValue& a, const PackedValue& b) {
    if (const auto order = a.source <=> b.source; order != 0) return order;
    if (const auto order = a.label <=> b.label; order != 0) return order;
    return a.generation <=> b.generation;
  }
  friend bool operator==(const PackedValue& a, const PackedValue& b) { return (a <=> b) == 0; }
};

/// What the sends of a graph are packed from, and which nodes wrote it. O(pieces log pieces + edges of
/// tasks).
class PackedValues {
 public:
  PackedValues(const CompiledGraph& graph, const ValueFlow& flow);

  /// The values that one send is packed from, ascending, each once.
  std::span<const PackedValue> ofSend(std::int32_t send) const;
  /// The value that a piece with a source is packed from.
  const PackedValue& of(std::int32_t send, const PackItem& item) const;
  /// Whether nodes of a task block on own patch `local` leave something that the send packs.
  bool takes(std::int32_t send, std::int32_t producer, std::int32_t local) const;

 private:
  std::span<PackedValue> listOf(std::int32_t send);
  void noteProducer(std::int32_t send, std::int32_t producer, std::int32_t local, const ValueFlow& flow);

  std::vector<PackedValue> values_;
  std::vector<Range> ranges_;  ///< by send
};

}  // namespace tessera::detail
