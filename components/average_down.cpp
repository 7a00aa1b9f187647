#include "components/average_down.hpp"

#include "components/average_down_kernels.hpp"

namespace tessera {
namespace {

template <class LabelType>
void declare(StepPlan& plan, std::string_view name, LabelType label, std::string_view of) {
  plan.task(name)
      .on(allButFinest())
      .reads(New, label, fromFiner())
      .modifies(label, from(of))
      .withoutDt()
      .runs(meanOfFiner(label));
}

}  // namespace

void averageDown(StepPlan& plan, std::string_view name, Label<double, Cell> label, std::string_view of) {
  declare(plan, name, label, of);
}

void averageDown(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> label,
                 std::string_view of) {
  declare(plan, name, label, of);
}

}  // namespace tessera
