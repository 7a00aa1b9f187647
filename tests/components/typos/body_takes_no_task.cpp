#include "datawarehouse/task_context.hpp"
#include "taskgraph/step_plan.hpp"

// says: a task's body is called with its task

namespace tessera {

struct Halve {
  Label<double, Cell> u;
  ReductionLabel largest;

  template <class Task>
  void operator()(const Task& task) const {
    const auto old = task.read(Old, u);
    const auto next = task.write(u);
    forEach(task.exec(), "Test::halve", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = 0.5 * old(x); });
    task.contribute(largest, 2.0 * reduce(task.exec(), "Test::largest", task.interior(), Max,
                                          [=] TESSERA_KERNEL(Index x) { return old(x); }));
  }
};

void declare(StepPlan& plan, const Halve& halve) {
  plan.task("Test::halve").reads(Old, halve.u).writes(halve.u, inLoop("Test::halve")).runs<Cpu, Gpu>([] {});
}

}  // namespace tessera
