#pragma once

#include <cstddef>
#include <vector>

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

struct SideValue;

/// Memory for what holds on the sides of a system, on its way to a device: kept from solve to solve.
class SideStaging {
 public:
  struct Piece {
    SideValue* onHost;
    SideValue* onDevice;
  };
  /// Of a solve that comes; the device has done what the last one gave it.
  void begin() { used_ = 0; }
  /// For so many cells; each solve asks for the same ones.
  Piece next(SolverDevice& device, std::size_t cells);
  /// The piece that was asked for last, which is filled by now.
  void send(SolverDevice& device);

 private:
  struct Memory {
    std::size_t numbers;
    SolverDevice::Numbers onHost, onDevice;
  };
  std::vector<Memory> pieces_;
  std::size_t used_ = 0;
};

/// Puts the own part of `system` into `target`: matrix, right-hand side with what the conditions of the sides
/// add to it, and as solution what it begins with. Layers are not filled. NumericalError: whether a condition
/// holds is not a number. Variables are those where the boxes are; conditions are computed on the host.
void assemble(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
              GridSystem& target, SideStaging& staging);

/// Puts the own part of a variable at cells into boxes.
void assemble(Label<double, Cell> label, Generation generation, const Level& level, DataWarehouse& data,
              const GridBoxes& boxes, CellNumbers& target);

/// The reverse for the solution: it becomes New. Of a system that holds at a part of the step, New is where
/// the line from Old through the solution is at the end.
void storeSolution(const LinearSystem& system, const Level& level, DataWarehouse& data, GridSystem& from);

}  // namespace tessera
