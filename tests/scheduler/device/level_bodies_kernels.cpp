#include "tests/scheduler/device/level_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::test {

struct MoveByNeighbours {
  LevelLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.u);
    const auto next = task.write(labels.u);
    forEach(task.exec(), "move", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = 0.5 * u(x) + (0.3 * u(x - ex) - 0.1 * u(x + ey)); });
  }
};

struct FindOnNodes {
  LevelLabels labels;
  On patches;

  template <class Task>
  void operator()(const Task& task) const {
    if (patches == On::AllPatches) {
      task.forEachPatch([&](const auto& patch) { find(patch); });
    } else {
      find(task);
    }
  }
  template <class Task>
  void find(const Task& task) const {
    const auto u = task.read(New, labels.u);
    const auto changed = task.modify(labels.u);
    const auto found = task.write(labels.found);
    forEach(task.exec(), "find", task.interior(labels.found),
            [=] TESSERA_KERNEL(Index x) { found(x) = (u(x - ex) + u(x)) * (u(x - ey) + u(x - ex - ey)); });
    forEach(task.exec(), "change", task.interior(),
            [=] TESSERA_KERNEL(Index x) { changed(x) = 0.75 * changed(x); });
  }
};

struct UseFound {
  LevelLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto found = task.read(New, labels.found);
    const auto u = task.modify(labels.u);
    forEach(task.exec(), "use", task.interior(),
            [=] TESSERA_KERNEL(Index x) { u(x) = u(x) + 0.25 * (found(x - ex) - found(x + ex + ey)); });
  }
};

struct LookUp {
  LevelLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.u);
    const auto next = task.write(labels.u);
    const auto numbers = task.table(labels.table);
    forEach(task.exec(), "lookUp", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + numbers[(x.i + 3 * x.j) % kTableSize]; });
  }
};

struct ComputeInstead {
  LevelLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.u);
    const auto next = task.write(labels.u);
    forEach(task.exec(), "compute", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + tableNumber((x.i + 3 * x.j) % kTableSize); });
  }
};

struct RunHeatStage {
  HeatStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, stage.u);
    const auto from = task.read(stage.generation, stage.from);
    const auto to = task.write(stage.to);
    const double dt = task.dt();
    const double old = stage.old;
    forEach(task.exec(), "stage", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const double stepped = from(x) + dt * ((from(x - ex) + from(x + ex)) - 2.0 * from(x));
      to(x) = old * u(x) + (1.0 - old) * stepped;
    });
  }
};

[[gnu::weak]] TaskBody heatStage(const HeatStage& stage) { return taskBody<Cpu, Gpu>(RunHeatStage{stage}); }
[[gnu::weak]] TaskBody moveByNeighbours(const LevelLabels& labels) {
  return taskBody<Cpu, Gpu>(MoveByNeighbours{labels});
}
[[gnu::weak]] TaskBody findOnNodes(const LevelLabels& labels, On patches) {
  return taskBody<Cpu>(FindOnNodes{labels, patches});
}
[[gnu::weak]] TaskBody useFound(const LevelLabels& labels) { return taskBody<Cpu, Gpu>(UseFound{labels}); }
[[gnu::weak]] TaskBody lookUp(const LevelLabels& labels) { return taskBody<Cpu, Gpu>(LookUp{labels}); }
[[gnu::weak]] TaskBody computeInstead(const LevelLabels& labels) {
  return taskBody<Cpu, Gpu>(ComputeInstead{labels});
}

}  // namespace tessera::test
