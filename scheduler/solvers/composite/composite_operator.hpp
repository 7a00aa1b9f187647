#pragma once

#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/composite/coarse_fine.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"
#include "scheduler/solvers/solver_system.hpp"

namespace tessera {

/// The matrix of a system on all levels together. A face between levels is finer faces: what flows through
/// them, from values that are interpolated beyond the finer level, is the flux of both sides. Not symmetric,
/// for that interpolation; what it adds up to over the domain, weighted, is what leaves through its sides.
/// Collective: all ranks make one, and call its functions, at once.
class CompositeOperator {
 public:
  /// Joins the levels of `system`; it outlives the object.
  CompositeOperator(SolverSystem& system, Transport& transport);

  /// Finds which cells are holes, rows without entries, and closes the coarse faces where levels meet. Once
  /// after each assembly and `leaveOutHoles`.
  void prepare();
  /// result = A u, and 0 in cells under finer ones. These of `u` get means, and its layers what is beyond.
  void apply(LevelNumbers& u, LevelNumbers& result);
  /// rows = f - A u; f may be `rows`.
  void residual(LevelNumbers& f, LevelNumbers& u, LevelNumbers& rows);
  void averageDown(LevelNumbers& u);

  std::size_t levels() const { return system_.levels.size(); }
  /// Between level n - 1 and level n.
  CoarseFine& below(std::size_t n) { return system_.below(n); }
  LayerExchange& faces(std::size_t n) { return *faces_[n]; }
  /// 0 in holes of level n, else 1; under finer cells their mean.
  CellNumbers& cells(std::size_t n) { return cells_[n]; }

 private:
  void fillLayers(LevelNumbers& u);

  SolverSystem& system_;
  LevelNumbers cells_;
  std::vector<std::unique_ptr<LayerExchange>> faces_;
};

/// New numbers on all levels of a system, 0 at first.
LevelNumbers numbersOf(const SolverSystem& system);
/// Calls `work(level, own box number, box)` for all own boxes of all levels.
template <class Work>
void forEachLevelBox(const SolverSystem& system, const Work& work) {
  for (std::size_t n = 0; n < system.levels.size(); ++n)
    forEachOwnBox(system.levels[n]->boxes, [&](std::size_t m, const Box& box) { work(n, m, box); });
}

}  // namespace tessera
