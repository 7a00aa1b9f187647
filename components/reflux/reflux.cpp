#include "components/reflux/reflux.hpp"

#include "components/component.hpp"
#include "components/reflux/reflux_kernels.hpp"
#include "components/subcycle/level_plans.hpp"

namespace tessera {
namespace {

/// A coarser step begins the sums of the next finer level; each finer step adds to them.
template <class T>
void declareSums(StepPlan& plan, const std::string& name, const PassedLabels<T>& passed) {
  for (LevelId level = 1; level < passed.levels; ++level) {
    TaskBuilder begin = plan.task(name + "Begin");
    begin.on(level).in(levelPlanName(level - 1)).withoutDt();
    forEachActive(passed, *passed.sums, [&](int, auto label) { begin.writes(label); });
    begin.runs(noFluxes(passed));
  }
  TaskBuilder add = plan.task(name + "Sum");
  add.on(allButCoarsest()).withoutDt();
  forEachActive(passed, passed, [&](int, auto label) { add.reads(New, label); });
  forEachActive(passed, *passed.sums, [&](int, auto label) { add.modifies(label); });
  add.runs(sumOfFluxes(passed));
}

template <class T>
void declareReflux(StepPlan& plan, std::string_view name, Label<T, Cell> variable,
                   const PassedLabels<T>& passed, std::string_view of) {
  if (passed.sums) declareSums(plan, std::string(name), passed);
  TaskBuilder task = plan.task(name);
  task.on(allButFinest()).modifies(variable, from(of));
  forEachActive(passed, passed, [&](int, auto label) { task.reads(New, label); });
  const auto readFiner = [&](int, auto label) { task.reads(New, label, fromFiner()); };
  if (passed.sums) {
    forEachActive(passed, *passed.sums, readFiner);
  } else {
    forEachActive(passed, passed, readFiner);
  }
  task.runs(fluxesOfFiner(variable, passed));
}

template <class T, class MakeLabel>
PassedLabels<T> makeLabels(const ComponentSetup& setup, const std::string& name, const MakeLabel& make) {
  PassedLabels<T> passed;
  const auto all = [&](auto& labels, const std::string& begin) {
    make(labels.x, begin + "_x");
    make(labels.y, begin + "_y");
    make(labels.z, begin + "_z");
  };
  all(passed, name);
  for (int d = 0; d < kAxes; ++d) passed.active[static_cast<std::size_t>(d)] = setup.geometry.active(d);
  if (setup.subcycles) all(passed.sums.emplace(), name + "_sum");
  passed.levels = setup.levels;
  return passed;
}

}  // namespace

PassedLabels<double> passedLabels(ComponentSetup& setup, const std::string& name) {
  return makeLabels<double>(setup, name, [&]<Centering C>(Label<double, C>& label, const std::string& one) {
    label = setup.labels.variable<double, C>(one);
  });
}

PassedLabels<Components<double>> passedLabels(ComponentSetup& setup, const std::string& name,
                                              const std::vector<ComponentInfo>& components) {
  return makeLabels<Components<double>>(
      setup, name, [&]<Centering C>(Label<Components<double>, C>& label, const std::string& one) {
        label = setup.labels.components<double, C>(one, components);
      });
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
