#include "components/component_totals.hpp"
#include "components/rmcrt/beside_side.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct TotalsOfRadiation {
  RayParams params;
  RadiationLabels labels;
  RadiationTotals totals;

  template <class Task>
  void operator()(const Task& task) const {
    if (labels.divQ)
      task.contribute(totals.loss, integralOf(task, "Rmcrt::loss", task.read(Old, *labels.divQ)));
    for (const RayBox& box : labels.boxes) addBox(task, box);
    if (params.wallRays == 0) return;
    addWalls(task, labels.flux.x, 0);
    addWalls(task, labels.flux.y, 1);
    addWalls(task, labels.flux.z, 2);
  }

  template <class Task>
  void addBox(const Task& task, const RayBox& box) const {
    const auto power = task.read(Old, box.power);
    task.contribute(box.total,
                    sumOverCells(task, "Rmcrt::box", [=] TESSERA_KERNEL(Index x) { return power(x); }));
  }

  template <class Task, class FaceLabel>
  void addWalls(const Task& task, FaceLabel label, int axis) const {
    const auto flux = task.read(Old, label);
    const double area = cellVolume(task.level()) / task.spacing()[axis];
    for (int side = 2 * axis; side <= 2 * axis + 1; ++side) {
      const bool high = side % 2 == 1;
      const Index toFace = high ? unit(axis) : Index{};
      const double taken = high ? area : -area;
      typename Task::ReducedSum power;
      task.forEachUncovered([&](const Box& box) {
        const Box beside = besideSide(box, task.level().domain(), side);
        if (beside.empty()) return;
        power.add(reduce(task.exec(), "Rmcrt::wall", beside, Sum,
                         [=] TESSERA_KERNEL(Index x) { return flux(x + toFace) * taken; }));
      });
      task.contribute(totals.walls[static_cast<std::size_t>(side)], power);
    }
  }
};

[[gnu::weak]] TaskBody totalsOfRadiation(const RayParams& params, const RadiationLabels& labels,
                                         const RadiationTotals& totals) {
  return taskBody<Cpu, Gpu>(TotalsOfRadiation{params, labels, totals});
}

}  // namespace tessera
