#include "scheduler/solvers/composite/composite_solver.hpp"
#include "scheduler/solvers/hypre/hypre_composite.hpp"
#include "scheduler/solvers/hypre/hypre_struct.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "scheduler/solvers/multigrid/conjugate_gradients.hpp"

namespace tessera {

std::unique_ptr<LinearSolver> makeLinearSolver(const SolverOptions& options, SolverSystem& system,
                                               Transport& transport) {
  const bool hasLevels = system.levels.size() > 1;
  if (options.library == SolverLibrary::Hypre) {
    if (hasLevels) return std::make_unique<HypreComposite>(options, system, transport);
    return std::make_unique<HypreStruct>(options, system, transport);
  }
  const bool isSymmetric = !hasLevels && system.kind() == MatrixKind::Symmetric;
  if (!isSymmetric || options.method != SolverMethod::Cg)
    return std::make_unique<CompositeSolver>(options, system, transport);
  return std::make_unique<ConjugateGradients>(options, system, transport);
}

}  // namespace tessera
