#pragma once

#include <memory>

#include "scheduler/solvers/kept_matrices.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

/// hypre's solvers on structured grids, with our matrix on the merged boxes of each rank. The bits are the
/// same for the same ranks and patches only. Makes a communicator of its own; ranks without cells take part.
/// Throws DeckError where the build has no hypre, where ranks are simulated inside one process, and where a
/// box has more numbers than hypre counts.
class HypreStruct final : public LinearSolver {
 public:
  /// For systems like this one, of one level.
  HypreStruct(const SolverOptions& options, const SolverSystem& system, Transport& transport);
  ~HypreStruct() override;
  HypreStruct(const HypreStruct&) = delete;
  HypreStruct& operator=(const HypreStruct&) = delete;

  void solve(SolverSystem& levels, SolveReport& report) override;

 private:
  struct Objects;
  void findResidual(GridSystem& system, SolveReport& report, double enough);

  const SolverOptions options_;
  const GridBoxes& boxes_;
  Transport& transport_;
  LayerExchange faces_;
  KeptMatrices kept_;
  std::unique_ptr<Objects> objects_;
};

}  // namespace tessera
