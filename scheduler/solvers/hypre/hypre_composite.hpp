#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/solvers/composite/composite_operator.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

/// hypre's solvers for a matrix by rows, on several levels: GMRES, also in place of CG, since rows where
/// levels meet are not symmetric, or BiCGSTAB, which may break down; preconditioned by BoomerAMG, of the rows
/// that our own operator has. hypre is asked for corrections, until our residual is small enough. The bits
/// are the same for the same ranks and patches only. Throws DeckError as HypreStruct does, where the
/// preconditioner is SMG, which knows one level, and for rows without entries (solid cells).
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
  void refuseHoles();
  void iterate(SolveReport& report, double enough);
  /// Right-hand side and solution change places with the system's.
  void exchange();

  const SolverOptions options_;
  SolverSystem& system_;
  Transport& transport_;
  CompositeOperator composite_;
  std::vector<GridMatrix> kept_;  ///< by level, of which the set-up is
  LevelNumbers f_, u_, residual_;
  bool hasSetup_ = false;
  std::int64_t solvesOfSetup_ = 0;
  std::unique_ptr<Objects> objects_;
};

/// Throws DeckError where a matrix of so many rows, in all and on one rank, is more than hypre can count.
void requireCountable(std::int64_t rows, std::int64_t rowsOfRank);

}  // namespace tessera
