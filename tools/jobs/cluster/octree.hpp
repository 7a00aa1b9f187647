#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/jobs/cluster/tree_body.hpp"

namespace tessera::jobs {

/// An octree of points by Morton's keys, with the moments of its cells. A plain value.
class Octree {
 public:
  /// Leaves have at most `leaf` points, unless more lie in a cell of the finest level (2^-21 of the root).
  Octree(std::span<const MassPoint> points, std::int32_t leaf);

  /// Where the point of each place of the tree's order was in the list.
  const std::vector<std::int32_t>& order() const { return order_; }
  const std::vector<TreeCell>& cells() const { return cells_; }

 private:
  static constexpr int kLevels = 21;
  void build(std::int32_t begin, std::int32_t end, int level, Real3 middle, double side);
  void setMoments(TreeCell& cell, std::int32_t begin, std::int32_t end) const;

  std::vector<MassPoint> points_;  ///< in the tree's order
  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> order_;
  std::vector<TreeCell> cells_;
  std::int32_t leaf_;
};

}  // namespace tessera::jobs
