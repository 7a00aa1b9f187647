#include "taskgraph/task_body.hpp"

#include <string>

#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera::test {
namespace {

struct NothingToDo {
  template <class Task>
  void operator()(const Task&) const {}
};
struct ChangesItself {
  template <class Task>
  void operator()(const Task&) {}
};
struct TakesNoTask {
  void operator()() const {}
};

TEST(TaskBody, HasAFunctionForEachPlaceThatWasListedAndItsChecks) {
  const TaskBody host = taskBody<Cpu>(NothingToDo{});
  EXPECT_TRUE(host.cpu && host.checked);
  EXPECT_FALSE(host.device || host.deviceChecked);

  const TaskBody devices = taskBody<Gpu>(NothingToDo{});
  EXPECT_FALSE(devices.cpu || devices.checked);
  EXPECT_TRUE(devices.device && devices.deviceChecked);
}

TEST(TaskBody, IsACallableThatTakesAConstTask) {
  static_assert(BodyFor<NothingToDo, Cpu> && BodyFor<NothingToDo, Gpu>);
  static_assert(!BodyFor<ChangesItself, Cpu>, "bodies of several patches run at once");
  static_assert(!BodyFor<TakesNoTask, Cpu>);
  static_assert(!BodyFor<std::string, Cpu>);
}

TEST(TaskBody, OfASourceOfKernelsIsTakenAsItIs) {
  StepPlan plan("step");
  plan.task("Test::given").runs(taskBody<Gpu>(NothingToDo{}));

  EXPECT_FALSE(plan.tasks().front().body.cpu);
  EXPECT_TRUE(plan.tasks().front().body.device);
}

}  // namespace
}  // namespace tessera::test
