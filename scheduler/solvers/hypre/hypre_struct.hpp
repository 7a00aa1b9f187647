#pragma once

#include <memory>

#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

/// hypre's solvers on structured grids, with our matrix on the merged boxes of each rank. The bits are the
/// same for the same ranks and patches only. Makes a communicator of its own; ranks without cells take part.
/// Throws DeckError where the build has no hypre, where ranks are simulated inside one process, and where a
/// box has more numbers than hypre counts.
class HypreStruct final : public LinearSolver {
 public:
  HypreStruct(const SolverOptions& options, const GridBoxes& boxes, MatrixKind kind, Transport& transport);
  ~HypreStruct() override;
  HypreStruct(const HypreStruct&) = delete;
  HypreStruct& operator=(const HypreStruct&) = delete;

  void solve(SolverSystem& levels, SolveReport& report) override;

 private:
  struct Objects;
  bool setUp(GridSystem& system);
  void findResidual(GridSystem& system, SolveReport& report, double enough);

  const SolverOptions options_;
  const GridBoxes& boxes_;
  Transport& transport_;
  LayerExchange faces_;
  GridMatrix matrix_;  ///< of which the set-up is
  bool hasSetup_ = false;
  std::int64_t solvesOfSetup_ = 0;
  std::unique_ptr<Objects> objects_;
};

}  // namespace tessera
