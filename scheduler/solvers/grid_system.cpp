#include "scheduler/solvers/grid_system.hpp"

#include <cstring>

namespace tessera {
namespace {

bool sameNumbers(const CellNumbers& a, const CellNumbers& b) {
  return a.all().empty() || std::memcmp(a.all().data(), b.all().data(), a.all().size() * sizeof(double)) == 0;
}

}  // namespace

GridMatrix::GridMatrix(const GridBoxes& grid, MatrixKind kind)
    : sink(grid),
      faces{CellNumbers(grid), CellNumbers(grid), CellNumbers(grid)},
      inverseDiagonal(grid),
      kind_(kind) {
  if (kind == MatrixKind::General) below = faces;
}

void GridMatrix::takeOver(const GridMatrix& other) {
  sink = other.sink;
  faces = other.faces;
  below = other.below;
  repeats_.clear();
}

StencilFields GridMatrix::fields(std::size_t box) {
  const auto view = [&](const CellNumbers& numbers, std::size_t which) {
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
    return ReadOnlyField<double>(data, layout);
  };
  const std::size_t below = kind_ == MatrixKind::General ? kAxes : 0;
  return {view(sink, 0),
          view(faces[0], 1),
          view(faces[1], 2),
          view(faces[2], 3),
          view(ofFaces(0, true), 1 + below),
          view(ofFaces(1, true), 2 + below),
          view(ofFaces(2, true), 3 + below),
          ReadOnlyField<double>(inverseDiagonal.data(box), inverseDiagonal.layout(box))};
}

GridMatrix::Repeats GridMatrix::repeatsIn(const CellNumbers& numbers, std::size_t box, const Box& region) {
  Repeats repeats{true, true, region.lo};
  if (region.empty()) return repeats;
  const Layout& layout = numbers.layout(box);
  const auto bytes = static_cast<std::size_t>(region.extent().i) * sizeof(double);
  const auto row = [&](std::int64_t j, std::int64_t k) {
    return numbers.data(box) + layout.at({region.lo.i, j, k});
  };
  for (std::int64_t k = region.lo.k; k < region.hi.k && (repeats.alongJ || repeats.alongK); ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      const auto sameAs = [&](std::int64_t otherJ, std::int64_t otherK) {
        return std::memcmp(row(j, k), row(otherJ, otherK), bytes) == 0;
      };
      repeats.alongJ = repeats.alongJ && sameAs(region.lo.j, k);
      repeats.alongK = repeats.alongK && sameAs(j, region.lo.k);
    }
  }
  return repeats;
}

void GridMatrix::invert(const GridBoxes& grid) {
  repeats_.assign(grid.own.size(), {});
  for (std::size_t n = 0; n < grid.own.size(); ++n) {
    const Box& box = grid.boxes[grid.own[n]];
    std::size_t which = 0;
    forEachNumbers([&](const CellNumbers& numbers) {
      // Sinks are read in cells, numbers of faces also above the last of them.
      Box region = box;
      const int axis = static_cast<int>(which + kAxes - 1) % kAxes;
      if (which > 0 && grid.active[static_cast<std::size_t>(axis)]) ++region.hi[axis];
      repeats_[n][which++] = repeatsIn(numbers, n, region);
    });
    invertDiagonal(Cpu{}, box, fields(n), inverseDiagonal.field(n));
  }
}

bool sameMatrix(const GridMatrix& a, const GridMatrix& b) {
  bool same = sameNumbers(a.sink, b.sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis)
    same = same && sameNumbers(a.faces[axis], b.faces[axis]) && sameNumbers(a.below[axis], b.below[axis]);
  return same;
}

GridSystem::GridSystem(const GridBoxes& boxes, MatrixKind kind)
    : grid(&boxes), matrix(boxes, kind), rightHandSide(boxes), solution(boxes) {}

}  // namespace tessera
