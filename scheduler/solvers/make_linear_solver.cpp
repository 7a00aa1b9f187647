#include "scheduler/solvers/conjugate_gradients.hpp"
#include "scheduler/solvers/hypre/hypre_struct.hpp"
#include "scheduler/solvers/linear_solver.hpp"

namespace tessera {

std::unique_ptr<LinearSolver> makeLinearSolver(const SolverOptions& options, const GridBoxes& boxes,
                                               Real3 spacing, Transport& transport) {
  if (options.library == SolverLibrary::Hypre)
    return std::make_unique<HypreStruct>(options, boxes, transport);
  return std::make_unique<ConjugateGradients>(options, boxes, spacing, transport);
}

}  // namespace tessera
