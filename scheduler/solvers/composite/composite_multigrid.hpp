#pragma once

#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/composite/composite_operator.hpp"
#include "scheduler/solvers/kept_matrices.hpp"
#include "scheduler/solvers/multigrid/multigrid.hpp"
#include "scheduler/solvers/solver_options.hpp"
#include "scheduler/solvers/solver_system.hpp"

namespace tessera {

/// One cycle of multigrid over the levels of the mesh, as a preconditioner of the composite matrix: each
/// refined level is smoothed, also under it the coarser one is, and below level 0 goes `Multigrid`. Where
/// levels meet a fine cell sees the coarse one at its distance, without interpolation; so the cycle is a
/// symmetric operator for the weights. Collective.
class CompositeMultigrid {
 public:
  /// Both outlive the object.
  CompositeMultigrid(const SolverOptions& options, SolverSystem& system, CompositeOperator& composite,
                     Transport& transport);

  /// For the matrices of the system, before `CompositeOperator::prepare`. False: they are those of the last
  /// call, and so is the set-up.
  bool setUp(Transport& transport);
  /// About the solution of A result = residual.
  void cycle(LevelNumbers& residual, LevelNumbers& result);

 private:
  void down(std::size_t n, LevelNumbers& result);
  void up(std::size_t n, LevelNumbers& result);
  void smooth(std::size_t n, CellNumbers& u, std::int64_t colour);

  SolverSystem& system_;
  CompositeOperator& composite_;
  const Preconditioner kind_;
  std::unique_ptr<Multigrid> multigrid_;  ///< of level 0
  KeptMatrices kept_;                     ///< as assembled
  std::vector<GridMatrix> matrices_;      ///< with faces to coarser cells
  LevelNumbers f_;
  LevelNumbers rest_;
};

}  // namespace tessera
