#include "components/advection/advection_kernels.hpp"
#include "components/advection/euler_step.hpp"
#include "components/reflux/kept_faces.hpp"

namespace tessera {

/// Fluxes through the faces across one axis: a part of them is written, or added to what has passed.
template <int kAxis, class Slope, class Task, class Velocity, class Field, class FluxLabel>
void passAlong(const Task& task, const Field& q, Velocity u, FluxLabel label, double part, bool adds) {
  const auto passed = adds ? task.modify(label) : task.write(label);
  const auto pass = [&](const Box& faces) {
    forEach(task.exec(), "Advection::pass", faces, [=] TESSERA_KERNEL(Index x) {
      passed(x) = part * EulerStep<Slope>::template flux<kAxis>(q, u, x);
    });
  };
  const auto passOn = [&](const Box& faces) {
    forEach(task.exec(), "Advection::passOn", faces, [=] TESSERA_KERNEL(Index x) {
      passed(x) += part * EulerStep<Slope>::template flux<kAxis>(q, u, x);
    });
  };
  const auto nothing = [&](const Box& faces) {
    if (adds) return;
    forEach(task.exec(), "Advection::passNothing", faces, [=] TESSERA_KERNEL(Index x) { passed(x) = 0.0; });
  };
  if (adds) {
    forEachKeptFace(task, task.interior(label), kAxis, passOn, nothing);
  } else {
    forEachKeptFace(task, task.interior(label), kAxis, pass, nothing);
  }
}

struct FluxOfAdvection {
  AdvectionLabels labels;
  AdvectionParams params;
  PassedLabels<double> passed;
  double part;
  bool adds;
  Generation velocity;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.limiter == Limiter::Flat) return pass<FlatSlope>(task);
    withLimiter(params.limiter, [&](auto slope) { pass<decltype(slope)>(task); });
  }

 private:
  template <class Slope, class Task>
  void pass(const Task& task) const {
    const auto q = adds ? task.read(New, labels.stage) : task.read(Old, labels.concentration);
    withVelocity(task, labels, params, velocity, [&](auto u) {
      if (params.active[0]) passAlong<0, Slope>(task, q, u, passed.x, part, adds);
      if (params.active[1]) passAlong<1, Slope>(task, q, u, passed.y, part, adds);
      if (params.active[2]) passAlong<2, Slope>(task, q, u, passed.z, part, adds);
    });
  }
};

[[gnu::weak]] TaskBody fluxOfAdvection(const AdvectionLabels& labels, const AdvectionParams& params,
                                       const PassedLabels<double>& passed, double part) {
  return taskBody<Cpu, Gpu>(FluxOfAdvection{labels, params, passed, part, false, Old});
}

[[gnu::weak]] TaskBody fluxOfCorrection(const AdvectionLabels& labels, const AdvectionParams& params,
                                        const PassedLabels<double>& passed, double part,
                                        Generation velocity) {
  return taskBody<Cpu, Gpu>(FluxOfAdvection{labels, params, passed, part, true, velocity});
}

}  // namespace tessera
