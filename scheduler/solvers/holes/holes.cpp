#include "scheduler/solvers/holes/holes.hpp"

#include <algorithm>

#include "core/exec/exec.hpp"

namespace tessera {
namespace {

/// The faces of cells on one side along an axis, in the rows of these cells and in those of the cells beyond.
struct FacesOfCells {
  int axis;
  bool high;
  Field<double> own, beyond;
};

/// What conducts from cells to holes on one side, and is carried in from there, becomes a sink.
template <class Exec>
void holdValues(Exec exec, const Box& cells, FacesOfCells faces, Field<double> open, Field<double> u,
                Field<double> sink, Field<double> f) {
  forEach(exec, "Solver::holdValues", cells, [=] TESSERA_KERNEL(Index x) {
    const Index along = unit(faces.axis);
    const Index face = faces.high ? x + along : x;
    const Index other = faces.high ? x + along : x - along;
    const double all = faces.own(face);
    const double ofBeyond = faces.beyond(face);
    const double conducts = all < ofBeyond ? all : ofBeyond;
    // The hole's value is half a cell away.
    const double weight = open(x) > 0.0 && !(open(other) > 0.0) ? conducts + all : 0.0;
    sink(x) = sink(x) + weight;
    f(x) = f(x) + weight * u(other);
  });
}

/// Faces beside a hole become 0.
template <class Exec>
void closeFaces(Exec exec, const Box& faces, int axis, Field<double> open, Field<double> k) {
  forEach(exec, "Solver::closeFaces", faces, [=] TESSERA_KERNEL(Index x) {
    const bool isOpen = open(x) > 0.0 && open(x - unit(axis)) > 0.0;
    k(x) = isOpen ? k(x) : 0.0;
  });
}

/// Numbers in holes become 0.
template <class Exec>
void clearHoles(Exec exec, const Box& cells, Field<double> open, Field<double> numbers) {
  forEach(exec, "Solver::clearHoles", cells,
          [=] TESSERA_KERNEL(Index x) { numbers(x) = open(x) > 0.0 ? numbers(x) : 0.0; });
}

/// number = factor * number + a in cells of the system.
template <class Exec>
void changeInSystem(Exec exec, const Box& cells, double factor, double a, Field<double> open,
                    Field<double> numbers) {
  forEach(exec, "Solver::changeInSystem", cells,
          [=] TESSERA_KERNEL(Index x) { numbers(x) = open(x) > 0.0 ? factor * numbers(x) + a : numbers(x); });
}

}  // namespace

Holes::Holes(const GridBoxes& boxes, Transport& transport)
    : boxes_(boxes), open_(boxes), layers_(boxes, LayerPart::Faces, transport) {
  // Beyond the domain is no hole: what is there conditions say.
  std::fill(open_.all().begin(), open_.all().end(), 1.0);
}

void Holes::cut(SystemHoles::Faces faces, SystemLevel& level) {
  layers_.fill(open_);
  layers_.fill(level.system.solution);
  level.weights = open_;
  GridMatrix& matrix = level.system.matrix;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Box& box = boxes_.boxes[boxes_.own[n]];
    const Field<double> open = open_.field(n);
    for (int side = 0; side < 2 * kAxes; ++side) {
      const auto axis = static_cast<std::size_t>(side / 2);
      const bool high = side % 2 == 1;
      if (!boxes_.active[axis] || faces == SystemHoles::Faces::Closed) continue;
      holdValues(Cpu{}, box,
                 {side / 2, high, matrix.ofFaces(axis, high).field(n), matrix.ofFaces(axis, !high).field(n)},
                 open, level.system.solution.field(n), matrix.sink.field(n),
                 level.system.rightHandSide.field(n));
    }
    for (int d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      if (!boxes_.active[axis]) continue;
      Box around = box;
      ++around.hi[d];
      for (const bool below : {false, true})
        closeFaces(Cpu{}, around, d, open, matrix.ofFaces(axis, below).field(n));
    }
    clearHoles(Cpu{}, box, open, matrix.sink.field(n));
    clearHoles(Cpu{}, box, open, level.system.rightHandSide.field(n));
  }
}

void Holes::addInSystem(double a, CellNumbers& numbers) { change(1.0, a, numbers); }
void Holes::clearInSystem(CellNumbers& numbers) { change(0.0, 0.0, numbers); }

void Holes::change(double factor, double a, CellNumbers& numbers) {
  for (std::size_t n = 0; n < boxes_.own.size(); ++n)
    changeInSystem(Cpu{}, boxes_.boxes[boxes_.own[n]], factor, a, open_.field(n), numbers.field(n));
}

}  // namespace tessera
