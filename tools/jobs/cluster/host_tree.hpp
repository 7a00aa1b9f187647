#pragma once

#include <vector>

#include "tools/jobs/cluster/star_tree.hpp"

namespace tessera::jobs {

/// A tree that a thread of the host builds (Octree).
class HostTree final : public StarTree {
 public:
  /// Of so many points, at least one, with at most `leaf` of them in a leaf.
  HostTree(std::int64_t points, std::int32_t leaf) : StarTree(points), leaf_(leaf) {}

  void build(std::span<const MassPoint> list) override;
  std::size_t pointAt(std::int64_t place) const override {
    return static_cast<std::size_t>(order_[static_cast<std::size_t>(place)]);
  }

 private:
  std::int32_t leaf_;
  std::vector<std::int32_t> order_;
};

}  // namespace tessera::jobs
