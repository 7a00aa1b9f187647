#include "components/reflux/reflux.hpp"

#include "components/reflux/reflux_kernels.hpp"

namespace tessera {
namespace {

template <class T>
void declareReflux(StepPlan& plan, std::string_view name, Label<T, Cell> variable,
                   const PassedLabels<T>& passed, std::string_view of) {
  TaskBuilder task = plan.task(name);
  task.on(allButFinest()).modifies(variable, from(of));
  const auto look = [&](int axis, auto label) {
    if (!passed.active[static_cast<std::size_t>(axis)]) return;
    task.reads(New, label).reads(New, label, fromFiner());
  };
  look(0, passed.x);
  look(1, passed.y);
  look(2, passed.z);
  task.runs(fluxesOfFiner(variable, passed));
}

std::array<bool, kAxes> activeAxes(const Geometry& geometry) {
  std::array<bool, kAxes> active{};
  for (int d = 0; d < kAxes; ++d) active[static_cast<std::size_t>(d)] = geometry.active(d);
  return active;
}

}  // namespace

PassedLabels<double> passedLabels(LabelTable& labels, const std::string& name, const Geometry& geometry) {
  return {labels.variable<double, FaceX>(name + "_x"), labels.variable<double, FaceY>(name + "_y"),
          labels.variable<double, FaceZ>(name + "_z"), activeAxes(geometry)};
}

PassedLabels<Components<double>> passedLabels(LabelTable& labels, const std::string& name,
                                              const Geometry& geometry,
                                              const std::vector<ComponentInfo>& components) {
  return {labels.components<double, FaceX>(name + "_x", components),
          labels.components<double, FaceY>(name + "_y", components),
          labels.components<double, FaceZ>(name + "_z", components), activeAxes(geometry)};
}

void refluxes(StepPlan& plan, std::string_view name, Label<double, Cell> variable,
              const PassedLabels<double>& passed, std::string_view of) {
  declareReflux(plan, name, variable, passed, of);
}

void refluxes(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> variable,
              const PassedLabels<Components<double>>& passed, std::string_view of) {
  declareReflux(plan, name, variable, passed, of);
}

}  // namespace tessera
