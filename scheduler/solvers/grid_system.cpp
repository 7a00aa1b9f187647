#include "scheduler/solvers/grid_system.hpp"

#include <cstring>

namespace tessera {
namespace {

bool sameNumbers(const CellNumbers& a, const CellNumbers& b) {
  return a.all().empty() || std::memcmp(a.all().data(), b.all().data(), a.all().size() * sizeof(double)) == 0;
}

}  // namespace

GridMatrix::GridMatrix(const GridBoxes& grid)
    : sink(grid), faces{CellNumbers(grid), CellNumbers(grid), CellNumbers(grid)}, inverseDiagonal(grid) {}

StencilFields GridMatrix::fields(std::size_t box) {
  const auto view = [box](const CellNumbers& numbers) {
    return ReadOnlyField<double>(numbers.data(box), numbers.layout(box));
  };
  return {view(sink), view(faces[0]), view(faces[1]), view(faces[2]), view(inverseDiagonal)};
}

void GridMatrix::invert(const GridBoxes& grid) {
  for (std::size_t n = 0; n < grid.own.size(); ++n)
    invertDiagonal(Cpu{}, grid.boxes[grid.own[n]], fields(n), inverseDiagonal.field(n));
}

bool sameMatrix(const GridMatrix& a, const GridMatrix& b) {
  bool same = sameNumbers(a.sink, b.sink);
  for (std::size_t axis = 0; axis < kAxes; ++axis) same = same && sameNumbers(a.faces[axis], b.faces[axis]);
  return same;
}

GridSystem::GridSystem(const GridBoxes& boxes)
    : grid(&boxes), matrix(boxes), rightHandSide(boxes), solution(boxes) {}

}  // namespace tessera
