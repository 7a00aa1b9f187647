#include "tests/scheduler/engine_step/copy_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::test {

struct CopyBody {
  Label<double, Cell> from, to;

  template <class Task>
  void operator()(const Task& task) const {
    const auto in = task.read(Old, from);
    const auto out = task.write(to);
    forEach(task.exec(), "copy", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = in(x); });
  }
};

[[gnu::weak]] TaskBody copyBody(Label<double, Cell> from, Label<double, Cell> to) {
  return taskBody<Cpu, Gpu>(CopyBody{from, to});
}

}  // namespace tessera::test
