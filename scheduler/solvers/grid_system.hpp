#pragma once

#include <array>

#include "scheduler/solvers/cell_numbers.hpp"
#include "scheduler/solvers/grid_boxes.hpp"
#include "scheduler/solvers/stencil_loops.hpp"

namespace tessera {

/// The matrix of a level on this rank, in the form of StencilFields. Conditions on the sides of the domain
/// are in it: what conducts to a value given on a side is that side's face.
struct GridMatrix {
  CellNumbers sink;
  std::array<CellNumbers, kAxes> faces;
  CellNumbers inverseDiagonal;

  explicit GridMatrix(const GridBoxes& grid);
  StencilFields fields(std::size_t box);
  /// To be called when the others, layers included, are there.
  void invert(const GridBoxes& grid);
};

/// Whether all numbers that say what the matrix is have the same bits on this rank, layers included.
bool sameMatrix(const GridMatrix& a, const GridMatrix& b);

/// A linear system of one level on this rank.
struct GridSystem {
  const GridBoxes* grid = nullptr;
  GridMatrix matrix;
  CellNumbers rightHandSide;
  CellNumbers solution;  ///< before: where to begin

  explicit GridSystem(const GridBoxes& boxes);
};

}  // namespace tessera
