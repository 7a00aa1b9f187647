#include "scheduler/solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/solvers/loops/solver_loops.hpp"

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
  forEachOwnBox(boxes, [&](std::size_t b, const Box& box) {
    solverLoop(boxes.device, box,
               CoarsenSums{fine.toCoarse, fine.matrix->sink.reads(b), target.sink.field(b)});
    for (int d = 0; d < kAxes; ++d) {
      // Across a period of one cell nothing flows.
      if (boxes.wraps[static_cast<std::size_t>(d)] && boxes.domain.hi[d] == 1) continue;
      Box faces = box;
      faces.hi[d] = boxes.withSides(box).hi[d];
      coarsenAxis(n, d, b, faces, target);
    }
  });
  if (kind_ == MatrixKind::General) {
    forEachOwnBox(boxes, [&](std::size_t b, const Box& box) {
      for (int d = 0; d < kAxes; ++d) {
        if (boxes.wraps[static_cast<std::size_t>(d)] && boxes.domain.hi[d] == 1) continue;
        Box faces = box;
        faces.hi[d] = boxes.withSides(box).hi[d];
        carryAlongAxis(n, d, b, faces, target);
      }
    });
  }
  const auto finish = [&](CellNumbers& from, CellNumbers& to) {
    if (gathers) gather(coarse.parts, coarse.grid, from, to);
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
  SolverDevice* device = fine.grid.device;
  const Field<double> above = fine.matrix->faces[at].field(box);
  const Field<double> coarseAbove = target.faces[at].field(box);
  if (kind_ == MatrixKind::Symmetric)
    return solverLoop(device, faces, CoarsenFaces<Field<double>>{fine.toCoarse, axis, above, coarseAbove});
  const FaceConducts conducts{above, fine.matrix->below[at].field(box)};
  solverLoop(device, faces, CoarsenFaces<FaceConducts>{fine.toCoarse, axis, conducts, coarseAbove});
}

void Multigrid::carryAlongAxis(std::size_t n, int axis, std::size_t box, const Box& faces,
                               GridMatrix& target) {
  Level& fine = *levels_[n - 1];
  const auto at = static_cast<std::size_t>(axis);
  const FaceConducts conducts{fine.matrix->faces[at].field(box), fine.matrix->below[at].field(box)};
  solverLoop(
      fine.grid.device, faces,
      AddCarried{fine.toCoarse, axis, conducts, target.faces[at].field(box), target.below[at].field(box)});
}

void Multigrid::gather(const GridBoxes& parts, const GridBoxes& whole, CellNumbers& from, CellNumbers& to) {
  SolverDevice* device = whole.device;
  if (device != nullptr && transport_.size() == 1) {
    return forEachOwnBox(parts, [&](std::size_t b, const Box& box) {
      solverLoop(device, parts.withSides(box), CopyCells{1.0, from.reads(b), to.field(0)});
    });
  }
  constexpr double kNobodys = -std::numeric_limits<double>::infinity();
  const Layout& layout = to.layout(0);
  gathered_.assign(static_cast<std::size_t>(layout.elements()), kNobodys);
  const Field<double> gathered(gathered_.data(), layout);
  fetchParts(parts, from);
  for (std::size_t b = 0; b < parts.own.size(); ++b) {
    const double* numbers = device != nullptr ? parts_[b].get() : from.data(b);
    const Field<const double> u(numbers, from.layout(b));
    detail::forEachInOrder(parts.withSides(parts.boxes[parts.own[b]]), [&](Index x) { gathered(x) = u(x); });
  }
  // Of each cell one rank has a number, and the others less than any.
  if (transport_.size() > 1) transport_.wait(transport_.allReduceMax(gathered_));
  std::replace(gathered_.begin(), gathered_.end(), kNobodys, 0.0);
  if (device == nullptr) {
    std::copy(gathered_.begin(), gathered_.end(), to.data(0));
  } else {
    if (whole_ == nullptr) whole_ = device->allocatePinned(gathered_.size());
    std::copy(gathered_.begin(), gathered_.end(), whole_.get());
    device->copyToDevice(to.data(0), whole_.get(), gathered_.size());
  }
}

/// From a device, parts of a level of few cells.
void Multigrid::fetchParts(const GridBoxes& parts, CellNumbers& from) {
  SolverDevice* device = parts.device;
  if (device == nullptr) return;
  device->launch();
  for (std::size_t b = 0; b < parts.own.size(); ++b) {
    const auto count = static_cast<std::size_t>(from.layout(b).elements());
    if (b == parts_.size()) parts_.push_back(device->allocatePinned(count));
    device->copyToHost(parts_[b].get(), from.data(b), count);
  }
  device->wait();
}

void Multigrid::cycle(CellNumbers& residual, CellNumbers& result) { cycle(0, residual, result); }

void Multigrid::cycle(std::size_t n, CellNumbers& f, CellNumbers& u) {
  Level& level = *levels_[n];
  SolverDevice* device = level.grid.device;
  if (n + 1 == levels_.size()) {
    return forEachOwnBox(level.grid, [&](std::size_t b, const Box& box) {
      solverLoop(device, box, DivideByDiagonal{level.matrix->fields(b), f.reads(b), u.field(b)});
    });
  }
  for (int time = 0; time < kSweeps; ++time) sweep(level, f, u, 0, time == 0);
  forEachOwnBox(level.grid, [&](std::size_t b, const Box& box) {
    level.matrix->withFields(b, [&](const auto& A) {
      solverLoop(device, box, residualOf(A, f.field(b), u.reads(b), level.residual.field(b)));
    });
  });
  restrictTo(n + 1, level.residual);
  Level& coarse = *levels_[n + 1];
  cycle(n + 1, coarse.f, coarse.u);
  const bool isWhole = coarse.grid.own.size() == 1 && coarse.grid.boxes.size() == 1;
  if (!level.isAligned && !isWhole) coarse.all->fill(coarse.u);
  forEachOwnBox(level.grid, [&](std::size_t b, const Box& box) {
    solverLoop(device, box, AddFromCoarse{level.toCoarse, coarse.u.reads(isWhole ? 0 : b), u.field(b)});
  });
  level.faces->fill(u);
  for (int time = 0; time < kSweeps; ++time) sweep(level, f, u, 1, false);
}

void Multigrid::sweep(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t first, bool isFromZero) {
  if (level.grid.device != nullptr) return sweepOnDevice(level, f, u, first, isFromZero);
  const std::int64_t second = 1 - first;
  for (std::size_t b = 0; b < level.grid.own.size(); ++b) sweepBox(level, b, f, u, first, isFromZero);
  level.faces->fill(u);
  for (std::size_t b = 0; b < level.grid.own.size(); ++b) {
    for (const Box& part : level.beside[b])
      level.matrix->withFields(
          b, [&](const auto& A) { solverLoop(nullptr, part, smoothing(A, f.reads(b), u.field(b), second)); });
  }
  level.faces->fill(u);
}

/// The second colour follows one plane behind the first, while what that has read is still in a cache; but
/// for cells beside other boxes, whose neighbours of the first colour have to be brought first.
void Multigrid::sweepBox(Level& level, std::size_t b, CellNumbers& f, CellNumbers& u, std::int64_t first,
                         bool isFromZero) {
  const Box box = level.box(b);
  const Box inner = level.inner[b];
  const auto plane = [](Box of, std::int64_t k) {
    of.lo.k = std::max(of.lo.k, k);
    of.hi.k = std::min(of.hi.k, k + 1);
    return of;
  };
  level.matrix->withFields(b, [&](const auto& A) {
    for (std::int64_t k = box.lo.k; k <= box.hi.k; ++k) {
      if (k < box.hi.k && isFromZero)
        solverLoop(nullptr, plane(box, k), starting(A, f.reads(b), u.field(b), first));
      else if (k < box.hi.k)
        solverLoop(nullptr, plane(box, k), smoothing(A, f.reads(b), u.field(b), first));
      const Box behind = plane(inner, k - 1);
      if (!behind.empty()) solverLoop(nullptr, behind, smoothing(A, f.reads(b), u.field(b), 1 - first));
    }
  });
}

void Multigrid::sweepOnDevice(Level& level, CellNumbers& f, CellNumbers& u, std::int64_t first,
                              bool isFromZero) {
  SolverDevice* device = level.grid.device;
  const auto smooth = [&](std::int64_t colour, bool starts) {
    forEachOwnBox(level.grid, [&](std::size_t b, const Box& box) {
      level.matrix->withFields(b, [&](const auto& A) {
        if (starts)
          solverLoop(device, box, starting(A, f.reads(b), u.field(b), colour));
        else
          solverLoop(device, box, smoothing(A, f.reads(b), u.field(b), colour));
      });
    });
    level.faces->fill(u);
  };
  smooth(first, isFromZero);
  smooth(1 - first, false);
}

void Multigrid::restrictTo(std::size_t n, CellNumbers& fine) {
  Level& from = *levels_[n - 1];
  Level& to = *levels_[n];
  if (!from.isAligned) from.all->fill(fine);
  const bool gathers = !to.parts.boxes.empty();
  const GridBoxes& boxes = gathers ? to.parts : to.grid;
  CellNumbers& target = gathers ? to.partF : to.f;
  forEachOwnBox(boxes, [&](std::size_t b, const Box& box) {
    solverLoop(boxes.device, box, CoarsenSums{from.toCoarse, fine.reads(b), target.field(b)});
  });
  if (gathers) gather(to.parts, to.grid, target, to.f);
}

}  // namespace tessera
