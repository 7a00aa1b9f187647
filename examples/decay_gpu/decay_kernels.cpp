#include "decay_kernels.hpp"

#include "datawarehouse/task_context.hpp"

using namespace tessera;

struct AdvanceDecay {
  Label<double, Cell> amount;
  double rate;

  template <class Task>
  void operator()(const Task& task) const {
    const auto old = task.read(Old, amount);
    const auto next = task.write(amount);
    const double kept = 1.0 - task.dt() * rate;
    forEach(task.exec(), "Decay::advance", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = kept * old(x); });
  }
};

struct LargestAmount {
  Label<double, Cell> amount;
  ReductionLabel most;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, amount);
    task.contribute(most, reduce(task.exec(), "Decay::most", task.interior(), Max,
                                 [=] TESSERA_KERNEL(Index x) { return u(x); }));
  }
};

[[gnu::weak]] TaskBody advanceDecay(Label<double, Cell> amount, double rate) {
  return taskBody<Cpu, Gpu>(AdvanceDecay{amount, rate});
}

[[gnu::weak]] TaskBody largestAmount(Label<double, Cell> amount, ReductionLabel most) {
  return taskBody<Cpu, Gpu>(LargestAmount{amount, most});
}
