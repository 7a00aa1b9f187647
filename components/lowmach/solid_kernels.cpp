#include "components/lowmach/face_fields.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

struct OpenFacesOfSolids {
  FlowParams params;

  template <class Task>
  void operator()(const Task& task) const {
    const auto fluid = task.read(New, params.solids.fluid);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto open = writeFaces(task, params.solids.open, axis);
      const Index e = unit(axis);
      forEach(task.exec(), "Lowmach::openFaces", facesAcross(task, params.solids.open, axis),
              [=] TESSERA_KERNEL(Index x) { open(x) = fluid(x - e) * fluid(x); });
    }
  }
};

struct StopAtSolids {
  FlowParams params;
  FlowFaces velocity;

  template <class Task>
  void operator()(const Task& task) const {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto open = readFaces(task, New, params.solids.open, axis);
      const auto u = modifyFaces(task, velocity, axis);
      forEach(task.exec(), "Lowmach::stop", facesAcross(task, velocity, axis),
              [=] TESSERA_KERNEL(Index x) { u(x) = open(x) * u(x); });
    }
  }
};

[[gnu::weak]] TaskBody openFacesOfSolids(const FlowParams& params) {
  return taskBody<Cpu, Gpu>(OpenFacesOfSolids{params});
}

[[gnu::weak]] TaskBody stopAtSolids(const FlowParams& params, const FlowFaces& velocity) {
  return taskBody<Cpu, Gpu>(StopAtSolids{params, velocity});
}

}  // namespace tessera
