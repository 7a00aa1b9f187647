#include "components/average_down.hpp"

#include "components/average_down_kernels.hpp"

namespace tessera {
namespace {

template <class LabelType>
TaskBuilder declare(StepPlan& plan, std::string_view name, LabelType label, std::string_view of) {
  TaskBuilder task = plan.task(name);
  task.on(allButFinest())
      .reads(New, label, fromFiner())
      .modifies(label, from(of))
      .withoutDt()
      .runs(meanOfFiner(label));
  return task;
}

}  // namespace

TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, Cell> label,
                        std::string_view of) {
  return declare(plan, name, label, of);
}

TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> label,
                        std::string_view of) {
  return declare(plan, name, label, of);
}

TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceX> label,
                        std::string_view of) {
  return declare(plan, name, label, of);
}

TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceY> label,
                        std::string_view of) {
  return declare(plan, name, label, of);
}

TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceZ> label,
                        std::string_view of) {
  return declare(plan, name, label, of);
}

}  // namespace tessera
