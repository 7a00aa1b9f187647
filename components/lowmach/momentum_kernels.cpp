#include "components/lowmach/lowmach_kernels.hpp"
#include "components/lowmach/momentum.hpp"

namespace tessera {

/// One loop over the faces across an axis.
template <class Field, class Target, class Between, class Fluid>
struct PredictLoop {
  MomentumRate<Field, Between, Fluid> rate;
  NumberOrField<Field> before;  ///< density of Old
  NumberOrField<Field> from;    ///< of the state
  NumberOrField<Field> after;   ///< of the stage
  NumberOrField<Field> force;
  NumberOrField<Field> open;
  Field old;  ///< velocity of Old
  Target next;
  double gravity;
  double reference;  ///< density whose weight does not count
  double ofOld;
  double dt;  ///< of the stage

  TESSERA_KERNEL void operator()(Index x) const {
    const Index e = rate.e[0];
    const double rho = after.atFace(x, e);
    const double gains =
        rate.friction(x) - rate.convection(x) + (gravity * (from.atFace(x, e) - reference) + force(x));
    const double kept = (rho - ofOld * before.atFace(x, e)) * (rate.u[0](x) - old(x));
    next(x) = open(x) * (old(x) + (kept + dt * gains) / rho);
  }
};

struct PredictVelocity {
  FlowParams params;
  FlowState state;
  FlowStage stage;
  Label<double, Cell> entering;

  template <class Task>
  void operator()(const Task& task) const {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      if (params.limited) {
        along<UpwindBetween<VanLeerSlope>>(task, axis);
      } else {
        along<CentralBetween>(task, axis);
      }
      atSides(task, axis);
    }
  }

  template <class Between, class Task>
  void along(const Task& task, int axis) const {
    using Field = std::remove_cvref_t<decltype(task.read(stage.generation, state.density))>;
    if (params.isGeneral()) {
      along<Between, GeneralFluid<Field>>(task, axis);
    } else {
      along<Between, PlainFluid<Field>>(task, axis);
    }
  }

  template <class Between, class Fluid, class Task>
  void along(const Task& task, int axis) const {
    const auto u = readFaces(task, stage.generation, stage.from.velocity, axis);
    const auto next = writeFaces(task, stage.to.velocity, axis);
    using Field = std::remove_cvref_t<decltype(u)>;
    // A density that is the same everywhere is divided out of everything.
    const NumberOrField<Field> one{u, 1.0, 0.0};
    PredictLoop<Field, std::remove_cvref_t<decltype(next)>, Between, Fluid> loop{
        rateOf<Between, Fluid>(task, u, axis),
        one,
        one,
        one,
        {u, 0.0, 0.0},
        openFaces(task, params, Old, axis, u),
        readFaces(task, Old, state.velocity, axis),
        next,
        params.gravity[axis],
        params.referenceDensity * params.perDensity(),
        stage.ofOld,
        stage.ofStage * task.dt()};
    if (params.densityVaries) {
      loop.before = {task.read(Old, state.density), 0.0, 1.0};
      loop.from = {task.read(stage.generation, stage.from.density), 0.0, 1.0};
      loop.after = {task.read(New, stage.to.density), 0.0, 1.0};
    }
    if (params.hasForce) loop.force = {readFaces(task, New, params.force, axis), 0.0, params.perDensity()};
    forEachHeavy(task.exec(), "Lowmach::predict", facesAcross(task, stage.to.velocity, axis), loop);
  }

  template <class Between, class Fluid, class Task, class Field>
  MomentumRate<Field, Between, Fluid> rateOf(const Task& task, const Field& u, int axis) const {
    MomentumRate<Field, Between, Fluid> rate{{u, u, u}, {u, u, u}, fluidAround<Fluid>(task, u, axis), {}, {}};
    for (int n = 0; n < kAxes; ++n) {
      const int d = (axis + n) % kAxes;
      if (!params.active[static_cast<std::size_t>(d)]) continue;
      rate.u[n] = readFaces(task, stage.generation, stage.from.velocity, d);
      rate.mass[n] = params.densityVaries ? readFaces(task, New, params.flux, d) : rate.u[n];
      rate.e[n] = unit(d);
      rate.inverse[n] = task.inverseSpacing()[d];
    }
    return rate;
  }

  template <class Fluid, class Task, class Field>
  Fluid fluidAround(const Task& task, const Field& u, int axis) const {
    NumberOrField<Field> viscosity{u, params.viscosity * params.perDensity(), 0.0};
    if (params.viscosityByMixture != 0.0) {
      viscosity.field = task.read(stage.generation, stage.from.carried[kMixture].value);
      viscosity.factor = params.viscosityByMixture * params.perDensity();
    }
    if constexpr (std::is_same_v<Fluid, PlainFluid<Field>>) {
      return {viscosity};
    } else {
      const NumberOrField<Field> one{u, 1.0, 0.0};
      Fluid fluid{viscosity, eddiesOf(task, params, New, u, params.perDensity()), {one, one, one}};
      for (int n = 0; n < kAxes; ++n) {
        const int d = (axis + n) % kAxes;
        if (params.active[static_cast<std::size_t>(d)]) fluid.open[n] = openFaces(task, params, Old, d, u);
      }
      return fluid;
    }
  }

  /// What passes the sides of the domain.
  template <class Task>
  void atSides(const Task& task, int axis) const {
    const auto next = writeFaces(task, stage.to.velocity, axis);
    forEachSideAcross(task, stage.to.velocity, axis, [&](int side, const Box& faces) {
      const FlowSide kind = params.sides[static_cast<std::size_t>(side)];
      if (kind == FlowSide::Closed) {
        forEach(task.exec(), "Lowmach::wall", faces, [=] TESSERA_KERNEL(Index x) { next(x) = 0.0; });
      } else if (kind == FlowSide::Given) {
        const auto twice = task.read(New, entering);
        const auto open = openFaces(task, params, Old, axis, twice);
        const Index beyond = side % 2 == 1 ? Index{} : Index{} - unit(axis);
        forEach(task.exec(), "Lowmach::enter", faces,
                [=] TESSERA_KERNEL(Index x) { next(x) = open(x) * (0.5 * twice(x + beyond)); });
      }
    });
  }
};

[[gnu::weak]] TaskBody predictVelocity(const FlowParams& params, const FlowState& state,
                                       const FlowStage& stage, Label<double, Cell> entering) {
  return taskBody<Cpu, Gpu>(PredictVelocity{params, state, stage, entering});
}

}  // namespace tessera
