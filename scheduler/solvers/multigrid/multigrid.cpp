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

  std::vector<Box> inner;                ///< of own boxes: cells without neighbours in others
  std::vector<std::vector<Box>> beside;  ///< and the rest

  Box box(std::size_t n) const { return grid.boxes[grid.own[n]]; }
};

Multigrid::Multigrid(const GridBoxes& grid, Real3 spacing, Transport& transport, MatrixKind kind)
    : transport_(transport), kind_(kind) {
  levels_.push_back(std::make_unique<Level>());
  levels_.back()->grid = grid;
  addLevels(spacing);
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    Level& level = *levels_[n];
    level.residual = CellNumbers(level.grid);
    for (std::size_t b = 0; b < level.grid.own.size(); ++b) {
      level.inner.push_back(level.grid.inside(level.box(b)));
      level.beside.push_back(subtract(level.box(b), level.inner.back()));
    }
    level.faces = std::make_unique<LayerExchange>(level.grid, LayerPart::Faces, transport);
    if (!level.isAligned || (n > 0 && !levels_[n - 1]->isAligned))
      level.all = std::make_unique<LayerExchange>(level.grid, LayerPart::All, transport);
    level.withSides = std::make_unique<LayerExchange>(level.grid, LayerPart::WithSides, transport);
    if (n == 0) continue;
    level.f = CellNumbers(level.grid);
    level.u = CellNumbers(level.grid);
    level.ownMatrix = std::make_unique<GridMatrix>(level.grid, kind);
    level.matrix = level.ownMatrix.get();
    if (level.parts.boxes.empty()) continue;
    level.partF = CellNumbers(level.parts);
    level.partMatrix = std::make_unique<GridMatrix>(level.parts, kind);
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
      coarsenAxis(n, d, b, faces, target);
    }
  }
  const auto finish = [&](CellNumbers& from, CellNumbers& to) {
    if (gathers) gather(coarse.parts, from, to);
    coarse.withSides->fill(to);
  };
  finish(target.sink, coarse.matrix->sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    finish(target.faces[axis], coarse.matrix->faces[axis]);
    if (kind_ == MatrixKind::General) finish(target.below[axis], coarse.matrix->below[axis]);
  }
  coarse.matrix->invert(coarse.grid);
}

void Multigrid::coarsenAxis(std::size_t n, int axis, std::size_t box, const Box& faces, GridMatrix& target) {
  Level& fine = *levels_[n - 1];
  const auto at = static_cast<std::size_t>(axis);
  const Field<double> above = fine.matrix->faces[at].field(box);
  const Field<double> coarseAbove = target.faces[at].field(box);
  if (kind_ == MatrixKind::Symmetric)
    return coarsenFaces(Cpu{}, faces, fine.toCoarse, axis, above, coarseAbove);
  const FaceConducts conducts{above, fine.matrix->below[at].field(box)};
  coarsenFaces(Cpu{}, faces, fine.toCoarse, axis, conducts, coarseAbove);
  addCarried(Cpu{}, faces, fine.toCoarse, axis, conducts, coarseAbove, target.below[at].field(box));
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
  for (int time = 0; time < kSweeps; ++time) sweep(level, f, u, 0, time == 0);
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
  for (int time = 0; time < kSweeps; ++time) sweep(level, f, u, 1, false);
}

/// The second colour follows one plane behind the first, while what that has read is still in a cache; but
/// for cells beside other boxes, whose neighbours of the first colour have to be brought first.
void Multigrid::sweep(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t first, bool isFromZero) {
  const std::int64_t second = 1 - first;
  for (std::size_t b = 0; b < level.grid.own.size(); ++b) {
    const Box box = level.box(b);
    const Box inner = level.inner[b];
    const StencilFields A = level.matrix->fields(b);
    const auto plane = [](Box of, std::int64_t k) {
      of.lo.k = std::max(of.lo.k, k);
      of.hi.k = std::min(of.hi.k, k + 1);
      return of;
    };
    for (std::int64_t k = box.lo.k; k <= box.hi.k; ++k) {
      if (k < box.hi.k && isFromZero)
        startColour(Cpu{}, plane(box, k), A, f.field(b), u.field(b), first);
      else if (k < box.hi.k)
        smoothColour(Cpu{}, plane(box, k), A, f.field(b), u.field(b), first);
      const Box behind = plane(inner, k - 1);
      if (!behind.empty()) smoothColour(Cpu{}, behind, A, f.field(b), u.field(b), second);
    }
  }
  level.faces->fill(u);
  for (std::size_t b = 0; b < level.grid.own.size(); ++b) {
    for (const Box& part : level.beside[b])
      smoothColour(Cpu{}, part, level.matrix->fields(b), f.field(b), u.field(b), second);
  }
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
