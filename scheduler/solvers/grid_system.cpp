#include "scheduler/solvers/grid_system.hpp"

#include <cstring>

#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

std::array<CellNumbers, kAxes> onFaces(const GridBoxes& grid) {
  return {CellNumbers(grid), CellNumbers(grid), CellNumbers(grid)};
}

}  // namespace

GridMatrix::GridMatrix(const GridBoxes& grid, MatrixKind kind)
    : sink(grid), faces(onFaces(grid)), inverseDiagonal(grid), kind_(kind) {
  if (kind == MatrixKind::General) below = onFaces(grid);
}

void GridMatrix::takeOver(const GridMatrix& other) {
  sink.takeOver(other.sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    faces[axis].takeOver(other.faces[axis]);
    if (kind_ == MatrixKind::General) below[axis].takeOver(other.below[axis]);
  }
  repeats_.clear();
}

ReadOnlyField<double> GridMatrix::view(const CellNumbers& numbers, std::size_t box, std::size_t which) const {
  Layout layout = numbers.layout(box);
  const double* data = numbers.data(box);
  const Repeats repeats = repeats_.empty() ? Repeats{} : repeats_[box][which];
  if (repeats.alongJ) {
    data += (repeats.first.j - layout.window.lo.j) * layout.strideJ;
    layout.strideJ = 0;
  }
  if (repeats.alongK) {
    data += (repeats.first.k - layout.window.lo.k) * layout.strideK;
    layout.strideK = 0;
  }
  return {data, layout};
}

StencilFields GridMatrix::fields(std::size_t box) {
  const std::size_t below = kind_ == MatrixKind::General ? kAxes : 0;
  return {{view(sink, box, 0), view(faces[0], box, 1), view(faces[1], box, 2), view(faces[2], box, 3),
           view(ofFaces(0, true), box, 1 + below), view(ofFaces(1, true), box, 2 + below),
           view(ofFaces(2, true), box, 3 + below), inverseDiagonal.reads(box)}};
}

SymmetricFields GridMatrix::symmetricFields(std::size_t box) {
  return {{view(sink, box, 0), view(faces[0], box, 1), view(faces[1], box, 2), view(faces[2], box, 3),
           inverseDiagonal.reads(box)}};
}

namespace {

/// Whether the rows along x of a region are the same along y, or along z.
bool repeatsOnHost(const CellNumbers& numbers, std::size_t box, const Box& region, int axis) {
  const Layout& layout = numbers.layout(box);
  const auto bytes = static_cast<std::size_t>(region.extent().i) * sizeof(double);
  const auto row = [&](std::int64_t j, std::int64_t k) {
    return numbers.data(box) + layout.at({region.lo.i, j, k});
  };
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      const double* other = axis == 1 ? row(region.lo.j, k) : row(j, region.lo.k);
      if (std::memcmp(row(j, k), other, bytes) != 0) return false;
    }
  }
  return true;
}

}  // namespace

void GridMatrix::invert(const GridBoxes& grid) {
  repeats_.assign(grid.own.size(), {});
  forEachRepeat(grid, [&](const CellNumbers& numbers, std::size_t n, const Box& region, Repeats& repeats) {
    repeats = {true, true, region.lo};
    if (region.empty() || grid.device != nullptr) return;
    repeats.alongJ = repeatsOnHost(numbers, n, region, 1);
    repeats.alongK = repeatsOnHost(numbers, n, region, 2);
  });
  if (grid.device != nullptr) findRepeatsOnDevice(grid);
  forEachOwnBox(grid, [&](std::size_t n, const Box& box) {
    solverLoop(grid.device, box, InvertDiagonal{fields(n), inverseDiagonal.field(n)});
  });
}

/// One wait for all of them.
void GridMatrix::findRepeatsOnDevice(const GridBoxes& grid) {
  std::vector<Largest> found;
  forEachRepeat(grid, [&](const CellNumbers& numbers, std::size_t n, const Box& region, Repeats&) {
    for (const int axis : {1, 2}) {
      found.emplace_back(grid.device, 0.0);
      found.back().add(region, DiffersFromRow{numbers.reads(n), region.lo, axis});
    }
  });
  std::size_t at = 0;
  forEachRepeat(grid, [&](const CellNumbers&, std::size_t, const Box&, Repeats& repeats) {
    repeats.alongJ = found[at++].value() == 0.0;
    repeats.alongK = found[at++].value() == 0.0;
  });
}

bool sameMatrix(const GridMatrix& a, const GridMatrix& b) {
  bool same = a.sink.isSame(b.sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis)
    same = same && a.faces[axis].isSame(b.faces[axis]) && a.below[axis].isSame(b.below[axis]);
  return same;
}

GridSystem::GridSystem(const GridBoxes& boxes, MatrixKind kind)
    : grid(&boxes), matrix(boxes, kind), rightHandSide(boxes), solution(boxes) {}

}  // namespace tessera
