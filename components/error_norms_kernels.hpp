#pragma once

#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// The volume of a cell of a level; what a sum over cells is multiplied with to be an integral.
inline double cellVolume(const Level& level) {
  return level.spacing().x * level.spacing().y * level.spacing().z;
}

/// The reductions of `normTotals`.
struct NormLabels {
  ReductionLabel total;    ///< a Sum: the integral over the patch
  ReductionLabel least;    ///< a Min
  ReductionLabel largest;  ///< a Max
};

/// Contributes integral, least and largest value of a cell variable. A cell that finer levels cover does not
/// count: the boxes left of a patch are gone through one by one. Needs a read of Old without a halo. On a
/// device each box is three launches.
TaskBody normTotals(Label<double, Cell> variable, const NormLabels& norms);

}  // namespace tessera
