#include "tools/jobs/cluster/host_tree.hpp"

#include <algorithm>

#include "tools/jobs/cluster/octree.hpp"

namespace tessera::jobs {

void HostTree::build(std::span<const MassPoint> list) {
  const Octree tree(list, leaf_);
  setCellCount(std::ssize(tree.cells()));
  std::ranges::copy(tree.cells(), cells().change().begin());
  order_ = tree.order();
  std::ranges::transform(order_, points().change().begin(),
                         [&](std::int32_t n) { return list[static_cast<std::size_t>(n)]; });
}

}  // namespace tessera::jobs
