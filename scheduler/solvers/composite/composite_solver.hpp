#pragma once

#include <cstdint>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/composite/composite_multigrid.hpp"
#include "scheduler/solvers/composite/composite_operator.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

/// Our own solver for systems on several levels, and for those whose matrix is not symmetric: BiCGSTAB (van
/// der Vorst, 1992) with a cycle of multigrid over the levels in front. Sums are exact and all else is
/// computed cell by cell, so the solution has the same bits for any ranks, threads and patches.
class CompositeSolver final : public LinearSolver {
 public:
  /// `system` outlives it, and is what is solved.
  CompositeSolver(const SolverOptions& options, SolverSystem& system, Transport& transport);
  void solve(SolverSystem& system, SolveReport& report) override;

 private:
  /// From the solution on, whose residual is given, until that is small enough or no step is left. What is
  /// left of the residual may be wrong by roundings.
  void iterate(SolveReport& report, double enough);
  double dot(LevelNumbers& a, LevelNumbers& b) { return dotOf(system_, a, b, transport_); }
  /// u = u + length better, and the residual becomes less by as much of `image`.
  void stepAlong(LevelNumbers& image, double length);
  /// Right-hand side and solution change places with the system's.
  void exchange(SolverSystem& system);

  const SolverOptions options_;
  SolverSystem& system_;
  Transport& transport_;
  CompositeOperator composite_;
  CompositeMultigrid preconditioner_;
  LevelNumbers f_, u_, residual_, shadow_, direction_, image_, better_, changed_;
};

}  // namespace tessera
