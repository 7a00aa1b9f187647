#pragma once

#include <memory>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/solver_options.hpp"
#include "scheduler/solvers/solver_system.hpp"

namespace tessera {

/// Solves systems on one mesh, one after the other; keeps its set-up while the matrix stays the same, which
/// changes no bit. Collective: all ranks make one, and call `solve`, at once, each on its main thread.
///
///   auto solver = makeLinearSolver(options, system, transport);
///   solver->solve(system, report);
///   if (report.result == SolveReport::Result::Converged) use(system);
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// From the solution that the system has to a better one. The report says iterations, residual and result;
  /// where that is not Converged, the right-hand sides are left with the residual. Matrices are finite and
  /// their layers are filled.
  virtual void solve(SolverSystem& system, SolveReport& report) = 0;
};

/// Whether this build has hypre.
bool hasHypre();

/// For systems on these levels; `system` and `transport` outlive it. Throws DeckError where the library asked
/// for is not built in, or does not know such systems.
std::unique_ptr<LinearSolver> makeLinearSolver(const SolverOptions& options, SolverSystem& system,
                                               Transport& transport);

}  // namespace tessera
