#include "scheduler/solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

/// Cells up to which a level is computed by each rank as a whole.
constexpr std::int64_t kWholeCells = 4096;
/// Sweeps before and after the coarser levels.
constexpr int kSweeps = 2;
/// Axes are halved whose cells are at most this many times as long as the shortest ones.
constexpr double kLongest = 1.5;

/// Which axes to halve: those of the smallest cells. {1, 1, 1}: none is left.
Extent nextRatio(const GridBoxes& grid, Real3 spacing) {
  const Extent cells = grid.domain.extent();
  double shortest = std::numeric_limits<double>::infinity();
  for (int d = 0; d < kAxes; ++d) {
    if (cells[d] > 1) shortest = std::min(shortest, spacing[d]);
  }
  Extent ratio{1, 1, 1};
  for (int d = 0; d < kAxes; ++d) {
    if (cells[d] > 1 && spacing[d] <= kLongest * shortest) ratio[d] = 2;
  }
  return ratio;
}

/// Whether each coarse cell has all of its cells in one box.
bool isAligned(const GridBoxes& fine, Extent ratio) {
  return std::all_of(fine.boxes.begin(), fine.boxes.end(), [&](const Box& box) {
    return box.lo.i % ratio.i == 0 && box.lo.j % ratio.j == 0 && box.lo.k % ratio.k == 0;
  });
}

}  // namespace

/// Of level 0 the matrix and the numbers are the caller's.
struct Multigrid::Level {
  GridBoxes grid;
  GridBoxes parts;      ///< of a level that each rank computes whole: the boxes of all ranks; else empty
  Coarsening toCoarse;  ///< of all but the coarsest
  bool isAligned = true;
  GridMatrix* matrix = nullptr;
  std::unique_ptr<GridMatrix> ownMatrix;
  std::unique_ptr<GridMatrix> partMatrix;
  CellNumbers f, u, residual, partF;
  std::unique_ptr<LayerExchange> faces;
  std::unique_ptr<LayerExchange> all;        ///< where coarse cells have cells of several boxes
  std::unique_ptr<LayerExchange> withSides;  ///< of matrices

  Box box(std::size_t n) const { return grid.boxes[grid.own[n]]; }
};

Multigrid::Multigrid(const GridBoxes& grid, Real3 spacing, Transport& transport) : transport_(transport) {
  levels_.push_back(std::make_unique<Level>());
  levels_.back()->grid = grid;
  addLevels(spacing);
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    Level& level = *levels_[n];
    level.residual = CellNumbers(level.grid);
    level.faces = std::make_unique<LayerExchange>(level.grid, LayerPart::Faces, transport);
    if (!level.isAligned || (n > 0 && !levels_[n - 1]->isAligned))
      level.all = std::make_unique<LayerExchange>(level.grid, LayerPart::All, transport);
    level.withSides = std::make_unique<LayerExchange>(level.grid, LayerPart::WithSides, transport);
    if (n == 0) continue;
    level.f = CellNumbers(level.grid);
    level.u = CellNumbers(level.grid);
    level.ownMatrix = std::make_unique<GridMatrix>(level.grid);
    level.matrix = level.ownMatrix.get();
    if (level.parts.boxes.empty()) continue;
    level.partF = CellNumbers(level.parts);
    level.partMatrix = std::make_unique<GridMatrix>(level.parts);
  }
}

Multigrid::~Multigrid() = default;

void Multigrid::addLevels(Real3 spacing) {
  const Rank rank = transport_.rank();
  bool isWhole = false;
  for (;;) {
    Level& fine = *levels_.back();
    const Extent ratio = nextRatio(fine.grid, spacing);
    if (ratio == Extent{1, 1, 1}) return;
    const auto wraps = [&](std::size_t axis) { return fine.grid.wraps[axis] ? 1 : 0; };
    fine.toCoarse = {ratio, fine.grid.domain.extent(), {wraps(0), wraps(1), wraps(2)}};
    fine.isAligned = isAligned(fine.grid, ratio);
    auto coarse = std::make_unique<Level>();
    coarse->grid = coarsened(fine.grid, ratio, rank);
    if (!isWhole && coarse->grid.cells() <= kWholeCells) {
      isWhole = true;
      coarse->parts = coarse->grid;
      coarse->grid = replicated(coarse->parts, rank);
    }
    for (int d = 0; d < kAxes; ++d) spacing[d] *= static_cast<double>(ratio[d]);
    levels_.push_back(std::move(coarse));
  }
}

void Multigrid::setUp(GridMatrix& matrix) {
  levels_.front()->matrix = &matrix;
  for (std::size_t n = 1; n < levels_.size(); ++n) coarsenMatrix(n);
}

void Multigrid::coarsenMatrix(std::size_t n) {
  Level& fine = *levels_[n - 1];
  Level& coarse = *levels_[n];
  const bool gathers = coarse.partMatrix != nullptr;
  const GridBoxes& boxes = gathers ? coarse.parts : coarse.grid;
  GridMatrix& target = gathers ? *coarse.partMatrix : *coarse.matrix;
  for (std::size_t b = 0; b < boxes.own.size(); ++b) {
    const Box box = boxes.boxes[boxes.own[b]];
    coarsenSums(Cpu{}, box, fine.toCoarse, fine.matrix->sink.field(b), target.sink.field(b));
    for (int d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      // Across a period of one cell nothing flows.
      if (boxes.wraps[axis] && boxes.domain.hi[d] == 1) continue;
      Box faces = box;
      faces.hi[d] = boxes.withSides(box).hi[d];
      coarsenFaces(Cpu{}, faces, fine.toCoarse, d, fine.matrix->faces[axis].field(b),
                   target.faces[axis].field(b));
    }
  }
  const auto finish = [&](CellNumbers& from, CellNumbers& to) {
    if (gathers) gather(coarse.parts, from, to);
    coarse.withSides->fill(to);
  };
  finish(target.sink, coarse.matrix->sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis) finish(target.faces[axis], coarse.matrix->faces[axis]);
  coarse.matrix->invert(coarse.grid);
}

void Multigrid::gather(const GridBoxes& parts, CellNumbers& from, CellNumbers& whole) {
  constexpr double kNobodys = -std::numeric_limits<double>::infinity();
  const Layout& layout = whole.layout(0);
  gathered_.assign(whole.all().size(), kNobodys);
  const Field<double> gathered(gathered_.data(), layout);
  for (std::size_t b = 0; b < parts.own.size(); ++b) {
    const Field<double> u = from.field(b);
    detail::forEachInOrder(parts.withSides(parts.boxes[parts.own[b]]), [&](Index x) { gathered(x) = u(x); });
  }
  // Of each cell one rank has a number, and the others less than any.
  if (transport_.size() > 1) transport_.wait(transport_.allReduceMax(gathered_));
  std::replace(gathered_.begin(), gathered_.end(), kNobodys, 0.0);
  whole.all() = gathered_;
}

void Multigrid::cycle(CellNumbers& residual, CellNumbers& result) { cycle(0, residual, result); }

void Multigrid::cycle(std::size_t n, CellNumbers& f, CellNumbers& u) {
  Level& level = *levels_[n];
  const std::size_t boxes = level.grid.own.size();
  if (n + 1 == levels_.size()) {
    for (std::size_t b = 0; b < boxes; ++b)
      divideByDiagonal(Cpu{}, level.box(b), level.matrix->fields(b), f.field(b), u.field(b));
    return;
  }
  for (std::size_t b = 0; b < boxes; ++b)
    startColour(Cpu{}, level.box(b), level.matrix->fields(b), f.field(b), u.field(b), 0);
  level.faces->fill(u);
  smooth(level, f, u, 1);
  for (int sweep = 1; sweep < kSweeps; ++sweep) {
    smooth(level, f, u, 0);
    smooth(level, f, u, 1);
  }
  for (std::size_t b = 0; b < boxes; ++b)
    stencilResidual(Cpu{}, level.box(b), level.matrix->fields(b), f.field(b), u.field(b),
                    level.residual.field(b));
  restrictTo(n + 1, level.residual);
  Level& coarse = *levels_[n + 1];
  cycle(n + 1, coarse.f, coarse.u);
  const bool isWhole = coarse.grid.own.size() == 1 && coarse.grid.boxes.size() == 1;
  if (!level.isAligned && !isWhole) coarse.all->fill(coarse.u);
  for (std::size_t b = 0; b < boxes; ++b)
    addFromCoarse(Cpu{}, level.box(b), level.toCoarse, coarse.u.field(isWhole ? 0 : b), u.field(b));
  level.faces->fill(u);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    smooth(level, f, u, 1);
    smooth(level, f, u, 0);
  }
}

void Multigrid::smooth(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t colour) {
  for (std::size_t b = 0; b < level.grid.own.size(); ++b)
    smoothColour(Cpu{}, level.box(b), level.matrix->fields(b), f.field(b), u.field(b), colour);
  level.faces->fill(u);
}

void Multigrid::restrictTo(std::size_t n, CellNumbers& fine) {
  Level& from = *levels_[n - 1];
  Level& to = *levels_[n];
  if (!from.isAligned) from.all->fill(fine);
  const bool gathers = !to.parts.boxes.empty();
  const GridBoxes& boxes = gathers ? to.parts : to.grid;
  CellNumbers& target = gathers ? to.partF : to.f;
  for (std::size_t b = 0; b < boxes.own.size(); ++b)
    coarsenSums(Cpu{}, boxes.boxes[boxes.own[b]], from.toCoarse, fine.field(b), target.field(b));
  if (gathers) gather(to.parts, target, to.f);
}

}  // namespace tessera
