#include "components/heat/heat_kernels.hpp"

#include "components/heat/conduction.hpp"
#include "components/stencils/laplacian.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// A source that is the same number in every cell.
struct UniformSource {
  double value;
  TESSERA_KERNEL double addedTo(double rate, Index) const { return rate + value; }
};
struct NoSource {
  TESSERA_KERNEL double addedTo(double rate, Index) const { return rate; }
};
template <class Field>
struct VaryingSource {
  Field q;
  TESSERA_KERNEL double addedTo(double rate, Index x) const { return rate + q(x); }
};

/// div(k grad T) for one k everywhere; `kByH2` is k/h^2 along each axis.
struct UniformConduction {
  Real3 kByH2;
  template <class Field>
  TESSERA_KERNEL double operator()(const Field& T, Index x) const {
    return laplacian(T, x, kByH2);
  }
};

/// div(k grad T) as the difference of face fluxes, each the same number for both of its cells.
template <class Conductivity>
struct VaryingConduction {
  FaceConductivity<Conductivity> onFace;
  Real3 w;  ///< 1/h^2 along each axis

  template <class Field>
  TESSERA_KERNEL double along(const Field& T, Index x, Index e) const {
    return onFace(x, x + e) * (T(x + e) - T(x)) - onFace(x, x - e) * (T(x) - T(x - e));
  }
  template <class Field>
  TESSERA_KERNEL double operator()(const Field& T, Index x) const {
    return (w.x * along(T, x, ex) + w.y * along(T, x, ey)) + w.z * along(T, x, ez);
  }
};

template <class Task, class Conduction, class Source>
void advanceTemperature(const Task& task, Label<double, Cell> temperature, Conduction conduction,
                        Source source) {
  const auto T = task.read(Old, temperature);
  const auto next = task.write(temperature);
  const double dt = task.dt();
  forEach(task.exec(), "Heat::advance", task.interior(),
          [=] TESSERA_KERNEL(Index x) { next(x) = T(x) + dt * source.addedTo(conduction(T, x), x); });
}

template <class Task, class Source>
void writeRightHandSide(const Task& task, const HeatLabels& labels, double part, Source source) {
  const auto T = task.read(Old, labels.temperature);
  const auto f = task.write(labels.rightHandSide);
  const double length = part * task.dt();
  forEach(task.exec(), "Heat::rightHandSide", task.interior(),
          [=] TESSERA_KERNEL(Index x) { f(x) = T(x) + length * source.addedTo(0.0, x); });
}

template <class Task, class Conduction>
void advanceWithSource(const Task& task, const HeatLabels& labels, const HeatParams& p,
                       Conduction conduction) {
  if (p.sourceVaries) {
    const auto q = task.read(New, labels.source);
    advanceTemperature(task, labels.temperature, conduction, VaryingSource<decltype(q)>{q});
  } else if (p.source != 0.0) {
    advanceTemperature(task, labels.temperature, conduction, UniformSource{p.source});
  } else {
    advanceTemperature(task, labels.temperature, conduction, NoSource{});
  }
}

struct RightHandSideOfHeat {
  HeatLabels labels;
  HeatParams params;
  double part;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.sourceVaries) {
      const auto q = task.read(New, labels.source);
      writeRightHandSide(task, labels, part, VaryingSource<std::decay_t<decltype(q)>>{q});
    } else {
      writeRightHandSide(task, labels, part, UniformSource{params.source});
    }
  }
};

struct AdvanceHeat {
  HeatLabels labels;
  HeatParams params;

  template <class Task>
  void operator()(const Task& task) const {
    const Real3 w = task.inverseSquaredSpacing();
    if (params.conductivityVaries) {
      const auto k = task.read(Old, labels.conductivity);
      advanceWithSource(task, labels, params, VaryingConduction<decltype(k)>{{k}, w});
    } else {
      const double k = params.conductivity;
      advanceWithSource(task, labels, params, UniformConduction{{k * w.x, k * w.y, k * w.z}});
    }
  }
};

struct StableHeatDt {
  HeatLabels labels;
  HeatParams params;
  ReductionLabel stableDt;
  Generation conductivity = Old;

  template <class Task>
  void operator()(const Task& task) const {
    const auto stableFor = [&](auto largest) {
      return 1.0 / (2.0 * largest * sumOf(task.inverseSquaredSpacing()));
    };
    if (!params.conductivityVaries) return task.contribute(stableDt, stableFor(params.conductivity));
    const auto k = task.read(conductivity, labels.conductivity);
    task.contribute(stableDt, stableFor(reduce(task.exec(), "Heat::stableDt", task.interior(), Max,
                                               [=] TESSERA_KERNEL(Index x) { return k(x); })));
  }
};

[[gnu::weak]] TaskBody advanceHeat(const HeatLabels& labels, const HeatParams& params) {
  return taskBody<Cpu, Gpu>(AdvanceHeat{labels, params});
}

[[gnu::weak]] TaskBody rightHandSideOfHeat(const HeatLabels& labels, const HeatParams& params, double part) {
  return taskBody<Cpu, Gpu>(RightHandSideOfHeat{labels, params, part});
}

[[gnu::weak]] TaskBody stableHeatDt(const HeatLabels& labels, const HeatParams& params,
                                    ReductionLabel stableDt, Generation conductivity) {
  return taskBody<Cpu, Gpu>(StableHeatDt{labels, params, stableDt, conductivity});
}

}  // namespace tessera
