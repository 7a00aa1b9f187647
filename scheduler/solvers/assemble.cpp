#include "scheduler/solvers/assemble.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/exec/exec.hpp"
#include "core/text/contracts.hpp"
#include "datawarehouse/moves/condition_values.hpp"

namespace tessera {
namespace {

Field<double> fieldOf(DataWarehouse& data, Generation generation, LabelId label, std::size_t local) {
  return {reinterpret_cast<double*>(data.data(generation, label, local)), data.layout(label, local)};
}

/// next = u + beyond (u - before)
template <class Exec>
void extrapolate(Exec exec, const Box& box, double beyond, Field<double> before, Field<double> u,
                 Field<double> next) {
  forEach(exec, "Solver::extrapolate", box,
          [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + beyond * (u(x) - before(x)); });
}

/// Of numbers on faces that are what they conduct: adds what flows through them by `factor` times `speed`,
/// upwind, to the rows of the cells above and below.
template <class Exec>
void addFlow(Exec exec, const Box& box, double factor, Field<double> speed, Field<double> above,
             Field<double> below) {
  forEach(exec, "Solver::flow", box, [=] TESSERA_KERNEL(Index x) {
    const double q = factor * speed(x);
    const double amount = q < 0.0 ? -q : q;
    const double conducts = above(x);
    above(x) = conducts + 0.5 * (amount + q);
    below(x) = conducts + 0.5 * (amount - q);
  });
}

/// Where the numbers of a patch go to.
struct Place {
  const Patch& patch;
  std::size_t local;  ///< in the warehouse
  std::size_t box;    ///< own box number
};

/// Assembles patch by patch.
class Assembly {
 public:
  Assembly(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
           GridSystem& target)
      : system_(system),
        level_(level),
        data_(data),
        time_(moment.time + system.partOfDt.value_or(1.0) * moment.dt),
        weight_(system.partOfDt ? *system.partOfDt * moment.dt : 1.0),
        target_(target),
        info_(data.labels().info(system.solution.id)) {}

  void add(const Place& place) {
    const Box& cells = place.patch.cells;
    setCells(Cpu{}, cells, system_.mass, target_.matrix.sink.field(place.box));
    copyCells(Cpu{}, cells, 1.0, fieldOf(data_, Generation::New, system_.rightHandSide.id, place.local),
              target_.rightHandSide.field(place.box));
    copyCells(Cpu{}, cells, 1.0, fieldOf(data_, system_.begin, system_.solution.id, place.local),
              target_.solution.field(place.box));
    for (int d = 0; d < kAxes; ++d) {
      if (target_.grid->active[static_cast<std::size_t>(d)]) addFaces(place, d);
    }
  }

 private:
  static LabelId faceLabel(const FaceCoefficients& of, int axis) {
    return axis == 0 ? of.x.id : axis == 1 ? of.y.id : of.z.id;
  }

  void addFaces(const Place& place, int axis) {
    const Field<double> k = target_.matrix.faces[static_cast<std::size_t>(axis)].field(place.box);
    const double h = level_.spacing()[axis];
    const double factor = weight_ / (h * h);
    const bool wraps = target_.grid->wraps[static_cast<std::size_t>(axis)];
    Box faces = place.patch.cells;
    const bool endsHigh = !wraps && faces.hi[axis] == level_.domain().hi[axis];
    // Where patches meet both have the faces between them; a level may end at any patch.
    ++faces.hi[axis];
    if (system_.faces) {
      copyCells(Cpu{}, faces, factor,
                fieldOf(data_, Generation::New, faceLabel(*system_.faces, axis), place.local), k);
    } else {
      setCells(Cpu{}, faces, factor * system_.coefficient, k);
    }
    if (target_.matrix.kind() == MatrixKind::General) {
      const Field<double> below =
          target_.matrix.ofFaces(static_cast<std::size_t>(axis), true).field(place.box);
      if (system_.flow) {
        addFlow(Cpu{}, faces, weight_ / h,
                fieldOf(data_, Generation::New, faceLabel(*system_.flow, axis), place.local), k, below);
      } else {
        copyCells(Cpu{}, faces, 1.0, k, below);
      }
    }
    if (!wraps && faces.lo[axis] == level_.domain().lo[axis]) addSide(place, sideOf(axis, false));
    if (endsHigh) addSide(place, sideOf(axis, true));
  }

  /// The faces of a side: what conducts to a value that is given there and is carried in from it, and what
  /// the condition adds to the right-hand side.
  void addSide(const Place& place, int side) {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    Box cells = place.patch.cells;
    (high ? cells.lo : cells.hi)[axis] = high ? cells.hi[axis] - 1 : cells.lo[axis] + 1;
    // In the row of the cells of the side, and in the one that nobody has.
    const Field<double> k = target_.matrix.ofFaces(static_cast<std::size_t>(axis), high).field(place.box);
    const Field<double> other =
        target_.matrix.ofFaces(static_cast<std::size_t>(axis), !high).field(place.box);
    const Field<double> f = target_.rightHandSide.field(place.box);
    const double h = level_.spacing()[axis];
    const std::int32_t count = conditionCount(info_, side, 0);
    // Steps take no memory that grows with the patches.
    std::array<std::optional<ConditionValue>, kMostParts + 1> values;
    for (std::int32_t n = 0; n < count; ++n)
      values[static_cast<std::size_t>(n)].emplace(info_, level_, side, ConditionNumber{0, n}, time_);
    detail::forEachInOrder(cells, [&](Index x) {
      const Index face = high ? x + unit(axis) : x;
      const Index beyond = high ? x + unit(axis) : x - unit(axis);
      const double conducts = std::min(k(face), other(face));
      const double carried = k(face) - conducts;
      k(face) = other(face) = 0.0;
      const auto give = [&](double weight, double value) {
        other(face) = weight;
        k(face) = weight + carried;
        f(x) += (weight + carried) * value;
      };
      for (std::int32_t n = 0; n < count; ++n) {
        const SideCondition& condition = conditionOf(info_, side, {0, n});
        const double v = (*values[static_cast<std::size_t>(n)])(beyond);
        if (isNotHere(v)) continue;
        if (condition.kind == BoundaryKind::Neumann) {
          f(x) += (conducts + carried) * h * v;
        } else if (condition.kind == BoundaryKind::Dirichlet) {
          give(2.0 * conducts, v);
        } else if (condition.kind == BoundaryKind::Given) {
          give(conducts, v);
        } else if (condition.kind == BoundaryKind::Reflect && condition.sign < 0) {
          give(2.0 * conducts, 0.0);
        }
        break;
      }
    });
  }

  const LinearSystem& system_;
  const Level& level_;
  DataWarehouse& data_;
  const double time_;
  const double weight_;
  GridSystem& target_;
  const LabelInfo& info_;
};

/// Calls `visit(Place)` for the own patches of the level.
template <class Visit>
void forEachPlace(const Level& level, const DataWarehouse& data, const GridBoxes& grid, Visit&& visit) {
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    if (data.ownPatches()[local] < 0) continue;  // a spare slot
    const Patch& patch = data.hierarchy().patch(data.ownPatches()[local]);
    if (patch.level != level.number()) continue;
    std::size_t box = 0;
    while (!grid.boxes[grid.own[box]].contains(patch.cells)) ++box;
    visit(Place{patch, local, box});
  }
}

}  // namespace

void assemble(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
              GridSystem& target) {
  Assembly assembly(system, level, data, moment, target);
  forEachPlace(level, data, *target.grid, [&](const Place& place) { assembly.add(place); });
}

void assemble(Label<double, Cell> label, Generation generation, const Level& level, DataWarehouse& data,
              const GridBoxes& boxes, CellNumbers& target) {
  forEachPlace(level, data, boxes, [&](const Place& place) {
    copyCells(Cpu{}, place.patch.cells, 1.0, fieldOf(data, generation, label.id, place.local),
              target.field(place.box));
  });
}

void storeSolution(const LinearSystem& system, const Level& level, DataWarehouse& data, GridSystem& from) {
  const double beyond = 1.0 / system.partOfDt.value_or(1.0) - 1.0;
  forEachPlace(level, data, *from.grid, [&](const Place& place) {
    const Box& cells = place.patch.cells;
    const Field<double> solution = from.solution.field(place.box);
    const Field<double> next = fieldOf(data, Generation::New, system.solution.id, place.local);
    if (beyond == 0.0) return copyCells(Cpu{}, cells, 1.0, solution, next);
    extrapolate(Cpu{}, cells, beyond, fieldOf(data, Generation::Old, system.solution.id, place.local),
                solution, next);
  });
}

}  // namespace tessera
