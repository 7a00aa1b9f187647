#include "tools/jobs/cluster/star_tree.hpp"

#include "core/text/error.hpp"

namespace tessera::jobs {

StarTree::StarTree(std::int64_t points)
    : points_("points", {points, 1, 1}), cells_("cells", {4 * points + 64, 1, 1}) {}

void StarTree::setCellCount(std::int64_t count) {
  if (count > cells_.box().hi.i)
    throw NumericalError(
        "stars lie so close together that the tree has more cells than 4 a star; use a larger leaf");
  cellCount_ = static_cast<std::int32_t>(count);
}

}  // namespace tessera::jobs
