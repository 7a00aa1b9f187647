#pragma once

#include <cstdint>
#include <string>

#include "core/geometry/box.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/refine.hpp"

namespace tessera {

/// A part of the domain of which the net power is wanted that leaves it as radiation.
struct RayBox {
  std::string name;  ///< of its column of the history
  Box cells;         ///< of level 0
  /// Of the cells that no finer ones cover: the power that leaves the box through the faces of the cell.
  Label<double, Cell> power;
  ReductionLabel total;
  std::uint32_t rays = 100;  ///< from each face, to either side
};

/// The cells of a box on a level.
inline Box cellsOfBox(const Hierarchy& hierarchy, const Box& onLevel0, LevelId level) {
  Box cells = onLevel0;
  for (LevelId l = 1; l <= level; ++l) cells = refine(cells, hierarchy.level(l).ratioToCoarser());
  return cells;
}

}  // namespace tessera
