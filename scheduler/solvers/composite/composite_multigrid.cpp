#include "scheduler/solvers/composite/composite_multigrid.hpp"

#include <algorithm>

#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

/// Sweeps on a refined level before and after the coarser ones, for each halving of its cells.
constexpr int kSweeps = 2;

int sweepsOf(const CoarseFine& joint) {
  const Extent ratio = joint.refinement().ratio;
  const std::int64_t most = std::max({ratio.i, ratio.j, ratio.k});
  return kSweeps * (most > 2 ? 2 : 1);
}

}  // namespace

CompositeMultigrid::CompositeMultigrid(const SolverOptions& options, SolverSystem& system,
                                       CompositeOperator& composite, Transport& transport)
    : system_(system),
      composite_(composite),
      kind_(options.preconditioner),
      kept_(system, options.setupEvery),
      f_(numbersOf(system)),
      rest_(numbersOf(system)) {
  const SystemLevel& first = *system.levels.front();
  if (kind_ == Preconditioner::Multigrid)
    multigrid_ = std::make_unique<Multigrid>(first.boxes, first.level.spacing(), transport, system.kind());
  for (const auto& level : system.levels) matrices_.emplace_back(level->boxes, system.kind());
}

bool CompositeMultigrid::setUp(Transport& transport) {
  if (!kept_.isDue(system_, transport)) return false;
  for (std::size_t n = 0; n < matrices_.size(); ++n) {
    matrices_[n].takeOver(kept_.level(n));
    // From the middle of a fine cell to that of the coarse one beside it.
    if (n > 0) {
      const Extent ratio = composite_.below(n).refinement().ratio;
      const auto r = static_cast<double>(std::max({ratio.i, ratio.j, ratio.k}));
      composite_.below(n).scaleFaces(matrices_[n], 2.0 / (1.0 + r));
    }
    matrices_[n].invert(system_.levels[n]->boxes);
  }
  if (multigrid_) multigrid_->setUp(matrices_.front());
  return true;
}

void CompositeMultigrid::cycle(LevelNumbers& residual, LevelNumbers& result) {
  for (std::size_t n = 0; n < f_.size(); ++n) {
    f_[n].takeOver(residual[n]);
    result[n].fill(0.0);
  }
  if (kind_ == Preconditioner::None) {
    for (std::size_t n = 0; n < f_.size(); ++n) result[n].takeOver(residual[n]);
    return;
  }
  if (kind_ == Preconditioner::Jacobi) {
    forEachLevelBox(system_, [&](std::size_t n, std::size_t m, const Box& box) {
      solverLoop(system_.levels[n]->boxes.device, box,
                 DivideByDiagonal{matrices_[n].fields(m), f_[n].reads(m), result[n].field(m)});
    });
    return;
  }
  for (std::size_t n = f_.size() - 1; n > 0; --n) down(n, result);
  multigrid_->cycle(f_.front(), result.front());
  for (std::size_t n = 1; n < f_.size(); ++n) up(n, result);
}

/// Smooths a level from 0 on, and gives what is left of the residual to the level below.
void CompositeMultigrid::down(std::size_t n, LevelNumbers& result) {
  CoarseFine& joint = composite_.below(n);
  for (int sweep = 0; sweep < sweepsOf(joint); ++sweep) {
    smooth(n, result[n], 0);
    smooth(n, result[n], 1);
  }
  const GridBoxes& grid = system_.levels[n]->boxes;
  forEachOwnBox(grid, [&](std::size_t m, const Box& box) {
    solverLoop(grid.device, box,
               residualOf(matrices_[n].fields(m), f_[n].field(m), result[n].reads(m), rest_[n].field(m)));
  });
  joint.averageDown(rest_[n], f_[n - 1]);
  joint.addFluxes(matrices_[n], result[n], -1.0, f_[n - 1]);
}

void CompositeMultigrid::up(std::size_t n, LevelNumbers& result) {
  CoarseFine& joint = composite_.below(n);
  joint.takeCoarse(result[n - 1]);
  joint.addParents(result[n]);
  joint.repeatInLayer(result[n]);
  composite_.faces(n).fill(result[n]);
  for (int sweep = 0; sweep < sweepsOf(joint); ++sweep) {
    smooth(n, result[n], 1);
    smooth(n, result[n], 0);
  }
}

void CompositeMultigrid::smooth(std::size_t n, CellNumbers& u, std::int64_t colour) {
  const GridBoxes& grid = system_.levels[n]->boxes;
  forEachOwnBox(grid, [&](std::size_t m, const Box& box) {
    solverLoop(grid.device, box, smoothing(matrices_[n].fields(m), f_[n].reads(m), u.field(m), colour));
  });
  composite_.faces(n).fill(u);
}

}  // namespace tessera
