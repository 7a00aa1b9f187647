#pragma once

#include <memory>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/grid_system.hpp"
#include "scheduler/solvers/solver_options.hpp"

namespace tessera {

/// Solves systems on one mesh, one after the other; keeps its set-up while the matrix stays the same, which
/// changes no bit. Collective: all ranks make one, and call `solve`, at once, each on its main thread.
///
///   auto solver = makeLinearSolver(options, boxes, spacing, transport);
///   solver->solve(system, report);
///   if (report.result == SolveReport::Result::Converged) use(system.solution);
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// From the solution that the system has to a better one. The report says iterations, residual and result;
  /// where that is not Converged, `system.rightHandSide` is left with the residual. The matrix is finite and
  /// its layers are filled.
  virtual void solve(GridSystem& system, SolveReport& report) = 0;
};

/// Whether this build has hypre.
bool hasHypre();

/// `boxes` and `transport` outlive it. Throws DeckError where the library asked for is not built in.
std::unique_ptr<LinearSolver> makeLinearSolver(const SolverOptions& options, const GridBoxes& boxes,
                                               Real3 spacing, Transport& transport);

}  // namespace tessera
