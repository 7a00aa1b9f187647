#pragma once

#include "core/exact_sum.hpp"
#include "core/transport/transport.hpp"
#include "scheduler/solvers/cell_numbers.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {

/// Numbers over all cells of a level that have the same bits for any boxes and ranks. All ranks call these
/// functions at once.

/// The sum over all ranks, rounded once.
double totalOf(ExactSum own, Transport& transport);
/// The sum of a(x) b(x).
double dotOf(const GridBoxes& grid, const CellNumbers& a, const CellNumbers& b, Transport& transport);
/// The smallest of all ranks' numbers.
double leastOf(double own, Transport& transport);
double largestOfAll(double own, Transport& transport);

}  // namespace tessera
