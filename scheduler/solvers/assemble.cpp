#include "scheduler/solvers/assemble.hpp"

#include <array>
#include <optional>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/condition_values.hpp"
#include "scheduler/solvers/loops/assembly_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

/// Where the numbers of a patch go to.
struct Place {
  const Patch& patch;
  std::size_t local;  ///< in the warehouse
  std::size_t box;    ///< own box number
};

/// Calls `visit(Place)` for the own patches of the level. On a device its loops on one patch use nothing that
/// they write on another.
template <class Visit>
void forEachPlace(const Level& level, const DataWarehouse& data, const GridBoxes& grid, const Visit& visit) {
  if (grid.device != nullptr) grid.device->nextPlace();
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    if (data.ownPatches()[local] < 0) continue;  // a spare slot
    const Patch& patch = data.hierarchy().patch(data.ownPatches()[local]);
    if (patch.level != level.number()) continue;
    std::size_t box = 0;
    while (!grid.boxes[grid.own[box]].contains(patch.cells)) ++box;
    visit(Place{patch, local, box});
  }
}

/// Variables of patches where the boxes are, on the host or on a device.
class VariablesThere {
 public:
  VariablesThere(DataWarehouse& data, const GridBoxes& grid) : data_(data), device_(grid.device) {}

  Field<double> field(Generation generation, LabelId label, std::size_t local) const {
    return {memory(generation, label, local), layout(label, local)};
  }
  ReadOnlyField<double> reads(Generation generation, LabelId label, std::size_t local) const {
    return {memory(generation, label, local), layout(label, local)};
  }

 private:
  const DeviceStore& storeOf(std::size_t local) const {
    return device_->access().storeOf(static_cast<std::int32_t>(local));
  }
  double* memory(Generation generation, LabelId label, std::size_t local) const {
    return reinterpret_cast<double*>(device_ == nullptr ? data_.data(generation, label, local)
                                                        : storeOf(local).data(generation, label, local));
  }
  const Layout& layout(LabelId label, std::size_t local) const {
    return device_ == nullptr ? data_.layout(label, local) : storeOf(local).layout(label, local);
  }

  DataWarehouse& data_;
  SolverDevice* device_;
};

/// Assembles a system in passes over its patches.
class Assembly {
 public:
  Assembly(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
           GridSystem& target, SideStaging& staging)
      : system_(system),
        level_(level),
        data_(data),
        variables_(data, *target.grid),
        device_(target.grid->device),
        time_(moment.time + system.partOfDt.value_or(1.0) * moment.dt),
        weight_(system.partOfDt ? *system.partOfDt * moment.dt : 1.0),
        target_(target),
        staging_(staging),
        info_(data.labels().info(system.solution.id)) {}

  void run() {
    forEachPlace([&](const Place& place) { addCells(place); });
    for (int d = 0; d < kAxes; ++d) {
      if (!target_.grid->active[static_cast<std::size_t>(d)]) continue;
      forEachPlace([&](const Place& place) { addFaces(place, d); });
      if (target_.grid->wraps[static_cast<std::size_t>(d)]) continue;
      for (const bool high : {false, true}) {
        forEachPlace([&](const Place& place) {
          const Box& cells = place.patch.cells;
          const bool ends =
              high ? cells.hi[d] == level_.domain().hi[d] : cells.lo[d] == level_.domain().lo[d];
          if (ends) addSide(place, sideOf(d, high));
        });
      }
    }
  }

 private:
  template <class Visit>
  void forEachPlace(const Visit& visit) {
    tessera::forEachPlace(level_, data_, *target_.grid, visit);
  }

  void addCells(const Place& place) {
    const Box& cells = place.patch.cells;
    const auto reads = [&](Generation generation, LabelId label) {
      return variables_.reads(generation, label, place.local);
    };
    solverLoop(device_, cells, SetCells{system_.mass, target_.matrix.sink.field(place.box)});
    solverLoop(device_, cells,
               CopyCells{1.0, reads(Generation::New, system_.rightHandSide.id),
                         target_.rightHandSide.field(place.box)});
    solverLoop(device_, cells,
               CopyCells{1.0, reads(system_.begin, system_.solution.id), target_.solution.field(place.box)});
  }

  static LabelId faceLabel(const FaceCoefficients& of, int axis) {
    return axis == 0 ? of.x.id : axis == 1 ? of.y.id : of.z.id;
  }

  /// Where patches meet both have the faces between them; a level may end at any patch.
  static Box facesOf(const Place& place, int axis) {
    Box faces = place.patch.cells;
    ++faces.hi[axis];
    return faces;
  }

  void addFaces(const Place& place, int axis) {
    const auto at = static_cast<std::size_t>(axis);
    const Field<double> k = target_.matrix.faces[at].field(place.box);
    const double h = level_.spacing()[axis];
    const auto reads = [&](const FaceCoefficients& of) {
      return variables_.reads(Generation::New, faceLabel(of, axis), place.local);
    };
    const ReadOnlyField<double> b = system_.faces ? reads(*system_.faces) : ReadOnlyField<double>{};
    const double factor = (weight_ / (h * h)) * (system_.faces ? 1.0 : system_.coefficient);
    if (system_.flow) {
      solverLoop(device_, facesOf(place, axis),
                 FacesWithFlow{factor, system_.faces.has_value(), b, weight_ / h, reads(*system_.flow), k,
                               target_.matrix.below[at].field(place.box)});
    } else if (system_.faces) {
      solverLoop(device_, facesOf(place, axis), CopyCells{factor, b, k});
    } else {
      solverLoop(device_, facesOf(place, axis), SetCells{factor, k});
    }
  }

  void addSide(const Place& place, int side) {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    Box cells = place.patch.cells;
    (high ? cells.lo : cells.hi)[axis] = high ? cells.hi[axis] - 1 : cells.lo[axis] + 1;
    const std::int32_t count = conditionCount(info_, side, 0);
    // Steps take no memory that grows with the patches.
    std::array<std::optional<ConditionValue>, kMostParts + 1> values;
    for (std::int32_t n = 0; n < count; ++n)
      values[static_cast<std::size_t>(n)].emplace(info_, level_, side, ConditionNumber{0, n}, time_);
    const auto valueAt = [&](Index x) {
      const Index beyond = high ? x + unit(axis) : x - unit(axis);
      for (std::int32_t n = 0; n < count; ++n) {
        const double v = (*values[static_cast<std::size_t>(n)])(beyond);
        if (!isNotHere(v)) return sideValue(conditionOf(info_, side, {0, n}), v);
      }
      return SideValue{};
    };
    if (device_ == nullptr) {
      detail::forEachInOrder(cells, closeSide(place, side, valueAt));
      return;
    }
    const SideStaging::Piece piece = staging_.next(*device_, static_cast<std::size_t>(cells.volume()));
    SideValue* to = piece.onHost;
    detail::forEachInOrder(cells, [&](Index x) { *to++ = valueAt(x); });
    staging_.send(*device_);
    solverLoop(device_, cells, closeSide(place, side, SideValues{cells, piece.onDevice}));
  }

  static SideValue sideValue(const SideCondition& condition, double v) {
    if (condition.kind == BoundaryKind::Neumann) return {v, SideValue::kSlope};
    if (condition.kind == BoundaryKind::Dirichlet) return {v, SideValue::kOnFace};
    if (condition.kind == BoundaryKind::Given) return {v, SideValue::kInCell};
    if (condition.kind == BoundaryKind::Reflect && condition.sign < 0) return {0.0, SideValue::kOnFace};
    return {};
  }

  template <class Values>
  CloseSide<Values> closeSide(const Place& place, int side, const Values& values) {
    const auto axis = static_cast<std::size_t>(side / 2);
    const bool high = side % 2 == 1;
    return {side / 2,
            high,
            level_.spacing()[side / 2],
            values,
            target_.matrix.ofFaces(axis, high).field(place.box),
            target_.matrix.ofFaces(axis, !high).field(place.box),
            target_.rightHandSide.field(place.box)};
  }

  const LinearSystem& system_;
  const Level& level_;
  DataWarehouse& data_;
  const VariablesThere variables_;
  SolverDevice* const device_;
  const double time_;
  const double weight_;
  GridSystem& target_;
  SideStaging& staging_;
  const LabelInfo& info_;
};

}  // namespace

SideStaging::Piece SideStaging::next(SolverDevice& device, std::size_t cells) {
  constexpr std::size_t kNumbers = sizeof(SideValue) / sizeof(double);
  if (used_ == pieces_.size())
    pieces_.push_back(
        {kNumbers * cells, device.allocatePinned(kNumbers * cells), device.allocate(kNumbers * cells)});
  const Memory& memory = pieces_[used_++];
  TESSERA_EXPECT(memory.numbers == kNumbers * cells, "stage the sides of one mesh");
  return {reinterpret_cast<SideValue*>(memory.onHost.get()),
          reinterpret_cast<SideValue*>(memory.onDevice.get())};
}

void SideStaging::send(SolverDevice& device) {
  const Memory& memory = pieces_[used_ - 1];
  device.copyToDevice(memory.onDevice.get(), memory.onHost.get(), memory.numbers);
}

void assemble(const LinearSystem& system, const Level& level, DataWarehouse& data, const SystemMoment& moment,
              GridSystem& target, SideStaging& staging) {
  staging.begin();
  Assembly(system, level, data, moment, target, staging).run();
}

void assemble(Label<double, Cell> label, Generation generation, const Level& level, DataWarehouse& data,
              const GridBoxes& boxes, CellNumbers& target) {
  const VariablesThere variables(data, boxes);
  forEachPlace(level, data, boxes, [&](const Place& place) {
    solverLoop(boxes.device, place.patch.cells,
               CopyCells{1.0, variables.reads(generation, label.id, place.local), target.field(place.box)});
  });
}

void storeSolution(const LinearSystem& system, const Level& level, DataWarehouse& data, GridSystem& from) {
  const double beyond = 1.0 / system.partOfDt.value_or(1.0) - 1.0;
  SolverDevice* device = from.grid->device;
  const VariablesThere variables(data, *from.grid);
  forEachPlace(level, data, *from.grid, [&](const Place& place) {
    const Box& cells = place.patch.cells;
    const ReadOnlyField<double> solution = from.solution.reads(place.box);
    const Field<double> next = variables.field(Generation::New, system.solution.id, place.local);
    if (beyond == 0.0) return solverLoop(device, cells, CopyCells{1.0, solution, next});
    const ReadOnlyField<double> before = variables.reads(Generation::Old, system.solution.id, place.local);
    solverLoop(device, cells, Extrapolate{beyond, before, solution, next});
  });
}

}  // namespace tessera
