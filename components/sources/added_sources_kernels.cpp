#include "components/sources/added_sources.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct AddSources {
  Label<double, Cell> into;
  std::vector<AddedSource> added;
  Generation generation;

  template <class Task>
  void operator()(const Task& task) const {
    const auto sum = task.modify(into);
    for (const AddedSource& one : added) {
      const auto q = task.read(generation, one.label);
      const double factor = one.factor;
      forEach(task.exec(), "Sources::add", task.interior(),
              [=] TESSERA_KERNEL(Index x) { sum(x) = sum(x) + factor * q(x); });
    }
  }
};

[[gnu::weak]] TaskBody addSources(Label<double, Cell> sum, const std::vector<AddedSource>& added,
                                  Generation generation) {
  return taskBody<Cpu, Gpu>(AddSources{sum, added, generation});
}

}  // namespace tessera
