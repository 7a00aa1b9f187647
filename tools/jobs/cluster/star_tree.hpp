#pragma once

#include <cstdint>
#include <span>

#include "tools/jobs/cluster/tree_body.hpp"

namespace tessera::jobs {

/// An octree of points in domains, for jobs that walk through it, whoever builds it.
class StarTree {
 public:
  virtual ~StarTree() = default;

  /// Of so many points as the tree was made for. Throws NumericalError where it has more than four cells a
  /// point.
  virtual void build(std::span<const MassPoint> list) = 0;
  /// Where the point of a place of the tree's order was in the list.
  virtual std::size_t pointAt(std::int64_t place) const = 0;

  Domain<MassPoint>& points() { return points_; }  ///< in the tree's order
  Domain<TreeCell>& cells() { return cells_; }
  std::int32_t cellCount() const { return cellCount_; }

 protected:
  explicit StarTree(std::int64_t points);
  /// Throws NumericalError where there is no room for so many.
  void setCellCount(std::int64_t count);

 private:
  Domain<MassPoint> points_;
  Domain<TreeCell> cells_;
  std::int32_t cellCount_ = 0;
};

}  // namespace tessera::jobs
