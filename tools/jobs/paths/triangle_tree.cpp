#include "tools/jobs/paths/triangle_tree.hpp"

#include <algorithm>

namespace tessera::jobs {
namespace {

/// Three times the middle of the triangle's corners.
Real3 middleOf(const SceneTriangle& t) { return (t.edge1 + t.edge2) + 3.0 * t.corner; }

void extend(TreeBox& box, Real3 to) {
  for (int axis = 0; axis < kAxes; ++axis) {
    box.low[axis] = std::min(box.low[axis], to[axis]);
    box.high[axis] = std::max(box.high[axis], to[axis]);
  }
}

}  // namespace

TriangleTree::TriangleTree(std::vector<SceneTriangle> all) : triangles(std::move(all)) {
  if (!triangles.empty()) build(0, static_cast<std::int32_t>(triangles.size()));
}

void TriangleTree::build(std::int32_t begin, std::int32_t end) {
  const std::size_t number = boxes.size();
  constexpr double kFar = 1e300;
  TreeBox box{{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}, 0, begin, end - begin <= kLeaf ? end - begin : 0};
  TreeBox middles = box;
  for (std::int32_t n = begin; n < end; ++n) {
    const SceneTriangle& t = triangles[static_cast<std::size_t>(n)];
    for (const Real3 corner : {t.corner, t.corner + t.edge1, t.corner + t.edge2}) extend(box, corner);
    extend(middles, middleOf(t));
  }
  const Real3 size = box.high - box.low;
  // Wider than what rounding of a ray's place may hide.
  const double more = 1e-9 * (std::max({size.x, size.y, size.z}) + 1e-30);
  box.low = box.low - Real3{more, more, more};
  box.high = box.high + Real3{more, more, more};
  boxes.push_back(box);
  if (box.count == 0) {
    const Real3 spread = middles.high - middles.low;
    const int axis = spread.x >= spread.y && spread.x >= spread.z ? 0 : spread.y >= spread.z ? 1 : 2;
    const std::int32_t half = begin + (end - begin) / 2;
    // Equal middles stay in their order, so that the tree is a function of the mesh.
    std::stable_sort(triangles.begin() + begin, triangles.begin() + end,
                     [&](const SceneTriangle& a, const SceneTriangle& b) {
                       return middleOf(a)[axis] < middleOf(b)[axis];
                     });
    build(begin, half);
    build(half, end);
  }
  boxes[number].next = static_cast<std::int32_t>(boxes.size());
}

}  // namespace tessera::jobs
