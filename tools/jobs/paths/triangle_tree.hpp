#pragma once

#include <vector>

#include "tools/jobs/paths/scene.hpp"

namespace tessera::jobs {

/// A tree of boxes over triangles: the longer axis of the middles is halved again and again. A plain value.
struct TriangleTree {
  std::vector<SceneTriangle> triangles;  ///< in the order of the leaves
  std::vector<TreeBox> boxes;

  explicit TriangleTree(std::vector<SceneTriangle> all);

 private:
  static constexpr std::int32_t kLeaf = 4;  ///< triangles of a leaf, at most
  void build(std::int32_t begin, std::int32_t end);
};

}  // namespace tessera::jobs
