#include "components/heat/conduction.hpp"
#include "components/heat/heat_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// The flux through the faces across one axis.
template <class Task, class FluxLabel>
void heatFlux(const Task& task, const HeatLabels& labels, const HeatParams& params, int axis,
              FluxLabel label) {
  const auto T = task.read(Old, labels.temperature);
  const auto flux = task.write(label);
  const double perLength = task.inverseSpacing()[axis];
  const Index e = unit(axis);
  if (params.conductivityVaries) {
    const auto field = task.read(Old, labels.conductivity);
    const FaceConductivity<decltype(field)> k{field};
    forEach(task.exec(), "Heat::flux", task.interior(label),
            [=] TESSERA_KERNEL(Index x) { flux(x) = perLength * k(x - e, x) * (T(x - e) - T(x)); });
  } else {
    const double k = params.conductivity * perLength;
    forEach(task.exec(), "Heat::uniformFlux", task.interior(label),
            [=] TESSERA_KERNEL(Index x) { flux(x) = k * (T(x - e) - T(x)); });
  }
}

struct FluxOfHeat {
  HeatLabels labels;
  HeatParams params;
  PassedLabels<double> passed;

  template <class Task>
  void operator()(const Task& task) const {
    forEachActive(passed, passed, [&](int axis, auto label) { heatFlux(task, labels, params, axis, label); });
  }
};

[[gnu::weak]] TaskBody fluxOfHeat(const HeatLabels& labels, const HeatParams& params,
                                  const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(FluxOfHeat{labels, params, passed});
}

}  // namespace tessera
