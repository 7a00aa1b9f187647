#include "taskgraph/edges/added_nodes.hpp"

#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"

namespace tessera::detail {
namespace {

/// Numbers the nodes of one list, and makes a block of each run of consecutive ones.
void numberList(AddedNodes& list, PlacedGraph& placed) {
  bool open = false;
  for (std::size_t n = 0; n < list.nodeOf.size(); ++n) {
    const bool wished = list.nodeOf[n] >= 0;
    if (wished) {
      const auto node = static_cast<std::int32_t>(placed.blockOf.size());
      if (!open) {
        placed.blocks.push_back(
            {list.kind, list.place, list.block, node, 0, static_cast<std::int32_t>(n), list.label});
      }
      list.nodeOf[n] = node;
      ++placed.blocks.back().count;
      placed.blockOf.push_back(static_cast<std::int32_t>(placed.blocks.size()) - 1);
    }
    open = wished;
  }
}

}  // namespace

void AddedNodesTable::number(PlacedGraph& placed) {
  for (std::vector<AddedNodes>& lists : listsOf_) {
    std::sort(lists.begin(), lists.end(), [](const AddedNodes& a, const AddedNodes& b) {
      return a.kind != b.kind ? a.kind < b.kind : a.label != b.label ? a.label < b.label : a.place < b.place;
    });
    for (AddedNodes& list : lists) numberList(list, placed);
  }
  TESSERA_EXPECT(placed.nodeCount() < std::numeric_limits<std::int32_t>::max(),
                 "give a rank less than 2^31 nodes, copies included");
}

}  // namespace tessera::detail
