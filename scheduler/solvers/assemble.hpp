#pragma once

#include "datawarehouse/data_warehouse.hpp"
#include "grid/level.hpp"
#include "scheduler/solvers/grid_system.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// The step that a system is assembled for.
struct SystemMoment {
  double time = 0.0;  ///< where it begins
  double dt = 0.0;
};

/// Puts the own part of `system` into `target`: matrix, right-hand side with what the conditions of the sides
/// add to it, and as solution what it begins with. Layers are not filled. NumericalError: whether a condition
/// holds is not a number.
void assemble(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
              GridSystem& target);

/// Puts the own part of a variable at cells into boxes.
void assemble(Label<double, Cell> label, Generation generation, const Level& level, DataWarehouse& data,
              const GridBoxes& boxes, CellNumbers& target);

/// The reverse for the solution: it becomes New. Of a system that holds at a part of the step, New is where
/// the line from Old through the solution is at the end.
void storeSolution(const LinearSystem& system, const Level& level, DataWarehouse& data, GridSystem& from);

}  // namespace tessera
