#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"

namespace tessera {

/// Finds the boxes of a list that overlap another one, wherever they lie: a binary tree of bounding boxes.
/// Its size is proportional to the number of boxes, whatever lies between them; a query takes about
/// log(boxes) + boxes found. Immutable; safe from any thread.
class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::span<const Box> boxes);

  /// Calls `visit(position in the list)` once for each box of `boxes`, the list that the tree was made from,
  /// that overlaps `query`; in no order in particular.
  template <class Visit>
  void visit(std::span<const Box> boxes, const Box& query, Visit&& visit) const {
    if (nodes_.empty()) return;
    std::array<std::uint32_t, kDeepest> open;
    std::size_t depth = 0;
    open[depth++] = 0;
    while (depth > 0) {
      const Node& node = nodes_[open[--depth]];
      if (intersect(node.bounds, query).empty()) continue;
      if (node.right != 0) {
        open[depth++] = node.right;
        open[depth++] = static_cast<std::uint32_t>(&node - nodes_.data()) + 1;
        continue;
      }
      for (std::uint32_t n = node.first; n < node.end; ++n) {
        if (!intersect(boxes[order_[n]], query).empty()) visit(std::size_t{order_[n]});
      }
    }
  }

 private:
  static constexpr std::uint32_t kInLeaf = 8;
  static constexpr std::size_t kDeepest = 80;  ///< halves of 2^32 boxes, and one more a level

  /// A leaf has `right` 0; the left child of another node follows it in the list.
  struct Node {
    Box bounds;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t right = 0;
  };

  void build(std::span<const Box> boxes, std::uint32_t first, std::uint32_t end);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> order_;  ///< positions in the list, those of a node in a row
};

}  // namespace tessera
