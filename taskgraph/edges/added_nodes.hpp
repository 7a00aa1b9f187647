#pragma once

#include <cstdint>
#include <vector>

#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Nodes that a placement adds beside those of one block: all of one kind, place and label.
struct AddedNodes {
  PlacedKind kind = PlacedKind::Twin;
  DeviceAssignment place = kOnHost;
  std::int32_t block = 0;
  LabelId label = -1;
  std::vector<std::int32_t> nodeOf;  ///< by number in the block; -1: none
};

/// All that a placement adds. First nodes are wished for, then all get their numbers.
class AddedNodesTable {
 public:
  explicit AddedNodesTable(const CompiledGraph& graph) : graph_(graph), listsOf_(graph.blocks.size()) {}

  /// Wishes for a node beside number `number` of a block.
  void add(PlacedKind kind, std::int32_t block, std::int32_t number, DeviceAssignment place,
           LabelId label = -1) {
    AddedNodes* list = find(kind, block, place, label);
    if (list == nullptr) {
      const auto count = static_cast<std::size_t>(graph_.blocks[static_cast<std::size_t>(block)].count);
      auto& lists = listsOf_[static_cast<std::size_t>(block)];
      lists.push_back({kind, place, block, label, std::vector<std::int32_t>(count, -1)});
      list = &lists.back();
    }
    list->nodeOf[static_cast<std::size_t>(number)] = 0;
  }
  /// The node; -1 where there is none.
  std::int32_t node(PlacedKind kind, std::int32_t block, std::int32_t number, DeviceAssignment place,
                    LabelId label = -1) const {
    const AddedNodes* list = find(kind, block, place, label);
    return list == nullptr ? -1 : list->nodeOf[static_cast<std::size_t>(number)];
  }
  /// Numbers the nodes from the end of `placed` on, block by block of the compiled graph, and appends their
  /// blocks.
  void number(PlacedGraph& placed);

 private:
  AddedNodes* find(PlacedKind kind, std::int32_t block, DeviceAssignment place, LabelId label) {
    for (AddedNodes& list : listsOf_[static_cast<std::size_t>(block)]) {
      if (list.kind == kind && list.place == place && list.label == label) return &list;
    }
    return nullptr;
  }
  const AddedNodes* find(PlacedKind kind, std::int32_t block, DeviceAssignment place, LabelId label) const {
    for (const AddedNodes& list : listsOf_[static_cast<std::size_t>(block)]) {
      if (list.kind == kind && list.place == place && list.label == label) return &list;
    }
    return nullptr;
  }

  const CompiledGraph& graph_;
  std::vector<std::vector<AddedNodes>> listsOf_;  ///< by block
};

}  // namespace tessera::detail
