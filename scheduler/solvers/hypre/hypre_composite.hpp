#pragma once

#include <cstdint>
#include <memory>

#include "scheduler/solvers/composite/composite_operator.hpp"
#include "scheduler/solvers/kept_matrices.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

/// hypre's solvers for a matrix by rows, on several levels: GMRES, also in place of CG, since rows where
/// levels meet are not symmetric, or BiCGSTAB, which may break down; preconditioned by BoomerAMG, of the rows
/// that our own operator has. hypre is asked for corrections, until our residual is small enough. The bits
/// are the same for the same ranks and patches only. Throws DeckError as HypreStruct does, where the
/// preconditioner is SMG, which knows one level.
class HypreComposite final : public LinearSolver {
 public:
  /// `system` outlives it, and is what is solved.
  HypreComposite(const SolverOptions& options, SolverSystem& system, Transport& transport);
  ~HypreComposite() override;
  HypreComposite(const HypreComposite&) = delete;
  HypreComposite& operator=(const HypreComposite&) = delete;

  void solve(SolverSystem& system, SolveReport& report) override;

 private:
  struct Objects;
  bool setUp();
  void iterate(SolveReport& report, double enough);
  /// Right-hand side and solution change places with the system's.
  void exchange();

  const SolverOptions options_;
  SolverSystem& system_;
  Transport& transport_;
  CompositeOperator composite_;
  KeptMatrices kept_;
  LevelNumbers f_, u_, residual_;
  std::unique_ptr<Objects> objects_;
};

/// Throws DeckError where a matrix of so many rows, in all and on one rank, is more than hypre can count.
void requireCountable(std::int64_t rows, std::int64_t rowsOfRank);

}  // namespace tessera
