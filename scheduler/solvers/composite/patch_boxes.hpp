#pragma once

#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/box_copies.hpp"
#include "scheduler/solvers/grid_system.hpp"

namespace tessera {

/// Whether each box begins and ends where cells of the next coarser level do.
bool areAligned(const GridBoxes& grid, Extent ratio);
/// Boxes that do, with the same cells together: a coarse cell belongs to the box with its first fine one.
GridBoxes aligned(const GridBoxes& grid, Extent ratio, Rank rank);

/// A system in boxes of patches that are no boxes for a solver, and the ways between both. Collective.
class PatchBoxes {
 public:
  /// `boxes`: the solver's; they outlive the making only.
  PatchBoxes(GridBoxes patches, const GridBoxes& boxes, Transport& transport);

  GridSystem& system() { return system_; }
  /// Matrix, right-hand side and solution go to the solver's boxes.
  void give(GridSystem& boxes);
  /// The solution comes back.
  void take(GridSystem& boxes) { back_.copy(boxes.solution, system_.solution); }

 private:
  const GridBoxes grid_;
  GridSystem system_;
  BoxCopies cells_;
  BoxCopies back_;
  std::vector<BoxCopies> faces_;  ///< by axis
};

}  // namespace tessera
