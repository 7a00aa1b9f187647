#pragma once

#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/grid_system.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/multigrid/coarsening_loops.hpp"

namespace tessera {

/// Geometric multigrid for the matrices of GridMatrix, as a preconditioner: one V-cycle is a symmetric
/// positive operator. Levels halve the axes whose cells are small, down to one cell. Smoothing is
/// Gauss-Seidel in two colours; coarse matrices conduct as the lines of the finer one do in series. All of it
/// depends on global indices alone, so the bits do not depend on boxes and ranks. Levels of few cells are
/// computed whole by each rank.
///
/// Collective: all ranks make one, and call its functions, at once.
class Multigrid {
 public:
  /// `grid` outlives it; `spacing`: cell sizes of the finest level; `kind`: of the matrices.
  Multigrid(const GridBoxes& grid, Real3 spacing, Transport& transport,
            MatrixKind kind = MatrixKind::Symmetric);
  ~Multigrid();
  Multigrid(const Multigrid&) = delete;
  Multigrid& operator=(const Multigrid&) = delete;

  /// Makes the coarse matrices. `matrix` is that of the finest level, with its layers filled; it stays alive
  /// and the same until the next call.
  void setUp(GridMatrix& matrix);
  /// About the solution of A result = residual. Changes the layers of `result` too; those beyond the domain
  /// are 0.
  void cycle(CellNumbers& residual, CellNumbers& result);

 private:
  struct Level;
  void addLevels(Real3 spacing);
  void coarsenMatrix(std::size_t n);
  /// From level n - 1 to the faces of level n along an axis, on one box.
  void coarsenAxis(std::size_t n, int axis, std::size_t box, const Box& faces, GridMatrix& target);
  /// Likewise, and afterwards, for what these faces carry.
  void carryAlongAxis(std::size_t n, int axis, std::size_t box, const Box& faces, GridMatrix& target);
  /// `f` and `u` are those of level n.
  void cycle(std::size_t n, CellNumbers& f, CellNumbers& u);
  /// Gauss-Seidel for the cells of one colour, 0 or 1, and then for the others; `isFromZero`: u counts as 0.
  void sweep(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t first, bool isFromZero);
  void sweepBox(Level& level, std::size_t b, CellNumbers& f, CellNumbers& u, std::int64_t first,
                bool isFromZero);
  void sweepOnDevice(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t first, bool isFromZero);
  void restrictTo(std::size_t n, CellNumbers& fine);
  /// Brings the cells of all ranks together, from their boxes to the one box of each.
  void gather(const GridBoxes& parts, const GridBoxes& whole, CellNumbers& from, CellNumbers& to);
  void fetchParts(const GridBoxes& parts, CellNumbers& from);

  Transport& transport_;
  const MatrixKind kind_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<double> gathered_;
  std::vector<SolverDevice::Numbers> parts_;  ///< of the one level that is gathered, on the host
  SolverDevice::Numbers whole_;               ///< likewise, all of it
};

}  // namespace tessera
