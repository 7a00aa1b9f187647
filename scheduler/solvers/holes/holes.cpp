#include "scheduler/solvers/holes/holes.hpp"

#include "scheduler/solvers/holes/hole_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {

Holes::Holes(const GridBoxes& boxes, Transport& transport)
    : boxes_(boxes), open_(boxes), layers_(boxes, LayerPart::Faces, transport) {
  // Beyond the domain is no hole: what is there conditions say.
  open_.fill(1.0);
}

void Holes::cut(SystemHoles::Faces faces, SystemLevel& level) {
  layers_.fill(open_);
  layers_.fill(level.system.solution);
  if (level.weights.isEmpty()) level.weights = CellNumbers(boxes_);
  level.weights.takeOver(open_);
  GridMatrix& matrix = level.system.matrix;
  if (faces == SystemHoles::Faces::Held) {
    for (int side = 0; side < 2 * kAxes; ++side) {
      if (boxes_.active[static_cast<std::size_t>(side / 2)]) holdOnSide(side, level.system);
    }
  }
  forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
    for (int d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      if (!boxes_.active[axis]) continue;
      Box around = box;
      ++around.hi[d];
      solverLoop(boxes_.device, around, CloseFaces{d, open_.reads(n), matrix.faces[axis].field(n)});
      if (matrix.kind() == MatrixKind::General)
        solverLoop(boxes_.device, around, CloseFaces{d, open_.reads(n), matrix.below[axis].field(n)});
    }
    solverLoop(boxes_.device, box, ClearHoles{open_.reads(n), matrix.sink.field(n)});
    solverLoop(boxes_.device, box, ClearHoles{open_.reads(n), level.system.rightHandSide.field(n)});
  });
}

void Holes::holdOnSide(int side, GridSystem& system) {
  const auto axis = static_cast<std::size_t>(side / 2);
  const bool high = side % 2 == 1;
  GridMatrix& matrix = system.matrix;
  forEachOwnBox(boxes_, [&](std::size_t n, const Box& box) {
    const FacesOfCells faces{side / 2, high, matrix.ofFaces(axis, high).reads(n),
                             matrix.ofFaces(axis, !high).reads(n)};
    solverLoop(boxes_.device, box,
               HoldValues{faces, open_.reads(n), system.solution.reads(n), matrix.sink.field(n),
                          system.rightHandSide.field(n)});
  });
}

}  // namespace tessera
