#include "components/lowmach/carried.hpp"
#include "components/lowmach/levels/level_kernels.hpp"
#include "components/reflux/beside_finer.hpp"
#include "components/reflux/finer_mean.hpp"

namespace tessera {

/// Faces across one axis: what comes along with the mass, and what spreads.
template <class Field, class Target, class Between, class Spread>
struct CarriedFaceLoop {
  Field q;
  Field mass;
  Spread spread;
  Target value;
  Target spreads;
  int axis;
  Index e;
  double inverse;

  TESSERA_KERNEL void operator()(Index x) const {
    value(x) = Between::at(q, x - e, e, mass(x));
    spreads(x) = inverse * spread(q, axis, x, e);
  }
};

struct CarriedOnFaces {
  FlowParams params;
  FlowStage stage;
  std::size_t which;
  CarriedFaces faces;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.limitedScalars) {
      withBetween<LimitedBetween>(task);
    } else {
      withBetween<UnlimitedBetween>(task);
    }
  }

  template <class Between, class Task>
  void withBetween(const Task& task) const {
    using Field = std::remove_cvref_t<decltype(task.read(stage.generation, stage.from.carried[which].value))>;
    if (params.isGeneral()) {
      withSpread<Between, GeneralSpread<Field>>(task);
    } else {
      withSpread<Between, PlainSpread<Field>>(task);
    }
  }

  template <class Between, class Spread, class Task>
  void withSpread(const Task& task) const {
    const auto q = task.read(stage.generation, stage.from.carried[which].value);
    const Spread spread = spreadOf<Spread>(task, params, which, stage.generation, q, params.perDensity());
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto mass = params.densityVaries ? readFaces(task, New, params.flux, axis)
                                             : readFaces(task, stage.generation, stage.from.velocity, axis);
      const auto value = writeFaces(task, faces.value, axis);
      const CarriedFaceLoop<std::remove_cvref_t<decltype(q)>, std::remove_cvref_t<decltype(value)>, Between,
                            Spread>
          loop{q,
               mass,
               spread,
               value,
               writeFaces(task, faces.spread, axis),
               axis,
               unit(axis),
               task.inverseSpacing()[axis]};
      forEach(task.exec(), "Lowmach::onFaces", facesAcross(task, faces.value, axis), loop);
    }
  }
};

/// What passes a face, less what would bring along a value of its own: 0 where that is the same around.
template <class Field>
struct RelativePassage {
  Field mass;
  Field value;
  Field spread;
  double own;

  TESSERA_KERNEL double operator()(Index y) const { return mass(y) * (value(y) - own) - spread(y); }
};

/// Coarse cells with finer ones on one side.
template <class Field, class Target>
struct RefluxCarriedLoop {
  RelativePassage<Field> coarse;
  RelativePassage<Field> fine;
  Field q;
  NumberOrField<Field> density;
  NumberOrField<Field> fluid;
  Target next;
  FinerMean<Field> finer;  ///< how to take means
  Index toFace;
  double factor;

  TESSERA_KERNEL void operator()(Index x) const {
    const Index y = x + toFace;
    const double own = q(x);
    const RelativePassage<Field> here{coarse.mass, coarse.value, coarse.spread, own};
    const FinerMean<RelativePassage<Field>> there{
        {fine.mass, fine.value, fine.spread, own}, finer.ratio, finer.count, finer.part};
    next(x) += fluid(x) * factor / density(x) * (there(y) - here(y));
  }
};

/// The mean over the finer faces of one across an axis.
template <class Task, class Field>
FinerMean<Field> meanAcross(const Task& task, const Field& fine, int axis) {
  const Extent ratio = task.refinementRatio();
  Extent count = ratio;
  count[axis] = 1;
  return {fine, ratio, count, 1.0 / static_cast<double>(count.i * count.j * count.k)};
}

template <class Task>
auto readFinerFaces(const Task& task, Generation generation, const FlowFaces& faces, int axis) {
  if (axis == 0) return task.readFiner(generation, faces.x);
  if (axis == 1) return task.readFiner(generation, faces.y);
  return task.readFiner(generation, faces.z);
}

struct RefluxCarried {
  FlowParams params;
  FlowStage stage;
  std::size_t which;
  CarriedFaces faces;

  template <class Task>
  void operator()(const Task& task) const {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (params.active[static_cast<std::size_t>(axis)]) along(task, axis);
    }
  }

  template <class Task>
  void along(const Task& task, int axis) const {
    const FlowFaces& masses = params.densityVaries ? params.flux : stage.from.velocity;
    const Generation generation = params.densityVaries ? New : stage.generation;
    const auto q = task.read(stage.generation, stage.from.carried[which].value);
    const auto next = task.modify(stage.to.carried[which].value);
    const auto fine = readFinerFaces(task, New, faces.value, axis);
    using Field = std::remove_cvref_t<decltype(q)>;
    RefluxCarriedLoop<Field, std::remove_cvref_t<decltype(next)>> loop{
        {readFaces(task, generation, masses, axis), readFaces(task, New, faces.value, axis),
         readFaces(task, New, faces.spread, axis), 0.0},
        {readFinerFaces(task, generation, masses, axis), fine, readFinerFaces(task, New, faces.spread, axis),
         0.0},
        q,
        {q, 1.0, 0.0},
        fluidOf(task, params, Old, q),
        next,
        meanAcross(task, fine, axis),
        Index{},
        stage.ofStage * task.dt() * task.inverseSpacing()[axis]};
    if (params.densityVaries) loop.density = {task.read(New, stage.to.density), 0.0, 1.0};
    forEachBesideFiner(task, axis, false,
                       [&](const Box& cells) { forEach(task.exec(), "Lowmach::refluxLower", cells, loop); });
    loop.toFace = unit(axis);
    loop.factor = -loop.factor;
    forEachBesideFiner(task, axis, true,
                       [&](const Box& cells) { forEach(task.exec(), "Lowmach::refluxUpper", cells, loop); });
  }
};

/// A density times the distance of a value from another one.
template <class Field>
struct WeighedDistance {
  Field q;
  Field density;
  double from;

  TESSERA_KERNEL double operator()(Index y) const { return density(y) * (q(y) - from); }
};

template <class Field, class Target>
struct MeanByMassLoop {
  FinerMean<Field> q;
  FinerMean<Field> density;
  Target coarse;

  TESSERA_KERNEL void operator()(Index x) const {
    const double from = q(x);
    const FinerMean<WeighedDistance<Field>> distance{{q.fine, density.fine, from}, q.ratio, q.count, q.part};
    coarse(x) = from + distance(x) / density(x);
  }
};

struct MeanByMass {
  FlowState state;
  std::size_t which;

  template <class Task>
  void operator()(const Task& task) const {
    const auto q = task.readFiner(New, state.carried[which].value);
    const auto coarse = task.modify(state.carried[which].value);
    const Extent ratio = task.refinementRatio();
    const double part = 1.0 / static_cast<double>(ratio.i * ratio.j * ratio.k);
    using Field = std::remove_cvref_t<decltype(q)>;
    const MeanByMassLoop<Field, std::remove_cvref_t<decltype(coarse)>> loop{
        {q, ratio, ratio, part}, {task.readFiner(New, state.density), ratio, ratio, part}, coarse};
    task.forEachCovered(
        [&](const Box& covered) { forEach(task.exec(), "Lowmach::meanByMass", covered, loop); });
  }
};

/// Faces across one axis.
template <class Field, class Target, class Spread>
struct SpreadFaceLoop {
  Field q;
  Spread spread;
  Target spreads;
  int axis;
  Index e;
  double inverse;

  TESSERA_KERNEL void operator()(Index x) const { spreads(x) = inverse * spread(q, axis, x, e); }
};

struct SpreadOnFaces {
  FlowParams params;
  FlowStage stage;
  std::size_t which;
  CarriedFaces faces;

  template <class Task>
  void operator()(const Task& task) const {
    using Field = std::remove_cvref_t<decltype(task.read(New, stage.to.carried[which].value))>;
    if (params.isGeneral()) {
      withSpread<GeneralSpread<Field>>(task);
    } else {
      withSpread<PlainSpread<Field>>(task);
    }
  }

  template <class Spread, class Task>
  void withSpread(const Task& task) const {
    const auto q = task.read(New, stage.to.carried[which].value);
    const Spread spread = spreadOf<Spread>(task, params, which, New, q, 1.0);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto spreads = writeFaces(task, faces.after, axis);
      const SpreadFaceLoop<std::remove_cvref_t<decltype(q)>, std::remove_cvref_t<decltype(spreads)>, Spread>
          loop{q, spread, spreads, axis, unit(axis), task.inverseSpacing()[axis]};
      forEach(task.exec(), "Lowmach::spreadOnFaces", facesAcross(task, faces.after, axis), loop);
    }
  }
};

/// Coarse cells with finer ones on one side.
template <class Field, class Target, class State>
struct RefluxExpansionLoop {
  NumberOrField<Field> f;
  NumberOrField<Field> h;
  NumberOrField<Field> fluid;
  Field coarse;
  FinerMean<Field> fine;
  Target expansion;
  State state;
  bool isOfHeat;
  Index toFace;
  double factor;

  TESSERA_KERNEL void operator()(Index x) const {
    const Index y = x + toFace;
    const double by = isOfHeat ? state.byHeat(f(x), h(x)) : state.byMixture(f(x), h(x));
    expansion(x) += fluid(x) * factor * by * (fine(y) - coarse(y));
  }
};

struct RefluxExpansion {
  FlowParams params;
  FlowStage stage;
  std::array<CarriedFaces, kFlowScalars> faces;

  template <class Task>
  void operator()(const Task& task) const {
    withState(task, params, [&](const auto& relation) {
      for (std::size_t n = 0; n < kFlowScalars; ++n) {
        if (!stage.to.carried[n].isThere()) continue;
        for (int axis = 0; axis < kAxes; ++axis) {
          if (params.active[static_cast<std::size_t>(axis)]) along(task, relation, n, axis);
        }
      }
    });
  }

  template <class Task, class State>
  void along(const Task& task, const State& relation, std::size_t n, int axis) const {
    const auto coarse = readFaces(task, New, faces[n].after, axis);
    const auto fine = readFinerFaces(task, New, faces[n].after, axis);
    const auto expansion = task.modify(params.expansion);
    RefluxExpansionLoop<std::remove_cvref_t<decltype(coarse)>, std::remove_cvref_t<decltype(expansion)>,
                        State>
        loop{carriedOrNone(task, New, stage.to.carried[kMixture], coarse),
             carriedOrNone(task, New, stage.to.carried[kHeat], coarse),
             fluidOf(task, params, Old, coarse),
             coarse,
             meanAcross(task, fine, axis),
             expansion,
             relation,
             n == kHeat,
             Index{},
             -task.inverseSpacing()[axis]};
    forEachBesideFiner(task, axis, false, [&](const Box& cells) {
      forEach(task.exec(), "Lowmach::refluxExpansionLower", cells, loop);
    });
    loop.toFace = unit(axis);
    loop.factor = -loop.factor;
    forEachBesideFiner(task, axis, true, [&](const Box& cells) {
      forEach(task.exec(), "Lowmach::refluxExpansionUpper", cells, loop);
    });
  }
};

[[gnu::weak]] TaskBody carriedOnFaces(const FlowParams& params, const FlowStage& stage, std::size_t which,
                                      const CarriedFaces& faces) {
  return taskBody<Cpu, Gpu>(CarriedOnFaces{params, stage, which, faces});
}

[[gnu::weak]] TaskBody spreadOnFaces(const FlowParams& params, const FlowStage& stage, std::size_t which,
                                     const CarriedFaces& faces) {
  return taskBody<Cpu, Gpu>(SpreadOnFaces{params, stage, which, faces});
}

[[gnu::weak]] TaskBody refluxCarried(const FlowParams& params, const FlowStage& stage, std::size_t which,
                                     const CarriedFaces& faces) {
  return taskBody<Cpu, Gpu>(RefluxCarried{params, stage, which, faces});
}

[[gnu::weak]] TaskBody refluxExpansion(const FlowParams& params, const FlowStage& stage,
                                       const std::array<CarriedFaces, kFlowScalars>& faces) {
  return taskBody<Cpu, Gpu>(RefluxExpansion{params, stage, faces});
}

[[gnu::weak]] TaskBody meanByMass(const FlowState& state, std::size_t which) {
  return taskBody<Cpu, Gpu>(MeanByMass{state, which});
}

}  // namespace tessera
