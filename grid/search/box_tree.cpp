#include "grid/search/box_tree.hpp"

#include <algorithm>
#include <numeric>

namespace tessera {

BoxTree::BoxTree(std::span<const Box> boxes) : order_(boxes.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  if (boxes.empty()) return;
  nodes_.reserve(boxes.size() / 2 + 1);
  build(boxes, 0, static_cast<std::uint32_t>(boxes.size()));
}

/// Halves the list at the middle box along the longest axis, so the depth is the logarithm of its length.
void BoxTree::build(std::span<const Box> boxes, std::uint32_t first, std::uint32_t end) {
  Box bounds;
  for (std::uint32_t n = first; n < end; ++n) bounds = boundingBox(bounds, boxes[order_[n]]);
  const std::size_t me = nodes_.size();
  nodes_.push_back({bounds, first, end, 0});
  if (end - first <= kInLeaf) return;
  const Extent size = bounds.extent();
  const int axis = size.i >= size.j && size.i >= size.k ? 0 : (size.j >= size.k ? 1 : 2);
  const std::uint32_t middle = first + (end - first) / 2;
  const auto begin = order_.begin();
  std::nth_element(begin + first, begin + middle, begin + end,
                   [&](std::uint32_t a, std::uint32_t b) { return boxes[a].lo[axis] < boxes[b].lo[axis]; });
  build(boxes, first, middle);
  const auto right = static_cast<std::uint32_t>(nodes_.size());
  nodes_[me].right = right;
  build(boxes, middle, end);
}

}  // namespace tessera
