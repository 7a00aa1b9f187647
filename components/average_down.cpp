#include "components/average_down.hpp"

#include "components/average_down_kernels.hpp"

namespace tessera {
namespace {

template <class LabelType>
void declare(StepPlan& plan, std::string_view name, LabelType label) {
  plan.task(name)
      .on(allButFinest())
      .reads(New, label, fromFiner())
      .modifies(label)
      .withoutDt()
      .runs(meanOfFiner(label));
}

}  // namespace

void averageDown(StepPlan& plan, std::string_view name, Label<double, Cell> label) {
  declare(plan, name, label);
}

void averageDown(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> label) {
  declare(plan, name, label);
}

}  // namespace tessera
