#pragma once

#include <cstdint>
#include <memory>

#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/kept_matrices.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "scheduler/solvers/multigrid/multigrid.hpp"

namespace tessera {

/// Our own solver: conjugate gradients, preconditioned by multigrid, by the diagonal or not at all. Dot
/// products are exact sums and all else is computed cell by cell, so the solution has the same bits for any
/// ranks, threads and patches.
class ConjugateGradients final : public LinearSolver {
 public:
  /// For systems like this one, of one level.
  ConjugateGradients(const SolverOptions& options, const SolverSystem& system, Transport& transport);
  void solve(SolverSystem& levels, SolveReport& report) override;

 private:
  void iterate(GridSystem& system, SolveReport& report, double enough);
  void precondition(CellNumbers& residual, CellNumbers& result);
  double dot(CellNumbers& a, CellNumbers& b) { return dotOf(boxes_, a, b, transport_); }

  const SolverOptions options_;
  const GridBoxes& boxes_;
  Transport& transport_;
  std::unique_ptr<Multigrid> multigrid_;
  LayerExchange faces_;
  KeptMatrices kept_;
  GridMatrix& matrix_;  ///< that one
  CellNumbers preconditioned_, direction_, image_;
};

}  // namespace tessera
