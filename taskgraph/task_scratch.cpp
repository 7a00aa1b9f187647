#include "taskgraph/task_scratch.hpp"

namespace tessera {

Box scratchBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo) {
  Box box = grow(patch.cells, level.effectiveHalo(halo));
  for (int d = 0; d < kAxes; ++d) {
    // An axis without a halo has one index, whatever its neighbours are called.
    if (onBorders(centering, d) && level.geometry().hasHalo(d)) ++box.hi[d];
  }
  return box;
}

}  // namespace tessera
