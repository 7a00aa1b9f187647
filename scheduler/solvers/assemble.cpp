#include "scheduler/solvers/assemble.hpp"

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
  LabelId faceLabel(int axis) const {
    return axis == 0 ? system_.faces->x.id : axis == 1 ? system_.faces->y.id : system_.faces->z.id;
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
      copyCells(Cpu{}, faces, factor, fieldOf(data_, Generation::New, faceLabel(axis), place.local), k);
    } else {
      setCells(Cpu{}, faces, factor * system_.coefficient, k);
    }
    if (!wraps && faces.lo[axis] == level_.domain().lo[axis]) addSide(place, sideOf(axis, false));
    if (endsHigh) addSide(place, sideOf(axis, true));
  }

  /// The faces of a side: what conducts to a value that is given there, and what the condition adds to the
  /// right-hand side.
  void addSide(const Place& place, int side) {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    Box cells = place.patch.cells;
    (high ? cells.lo : cells.hi)[axis] = high ? cells.hi[axis] - 1 : cells.lo[axis] + 1;
    const Field<double> k = target_.matrix.faces[static_cast<std::size_t>(axis)].field(place.box);
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
      const double conducts = k(face);
      k(face) = 0.0;
      for (std::int32_t n = 0; n < count; ++n) {
        const SideCondition& condition = conditionOf(info_, side, {0, n});
        const double v = (*values[static_cast<std::size_t>(n)])(beyond);
        if (isNotHere(v)) continue;
        if (condition.kind == BoundaryKind::Neumann) {
          f(x) += conducts * h * v;
        } else if (condition.kind == BoundaryKind::Dirichlet) {
          k(face) = 2.0 * conducts;
          f(x) += 2.0 * conducts * v;
        } else if (condition.kind == BoundaryKind::Given) {
          k(face) = conducts;
          f(x) += conducts * v;
        } else if (condition.kind == BoundaryKind::Reflect && condition.sign < 0) {
          k(face) = 2.0 * conducts;
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
