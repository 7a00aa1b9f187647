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

/// Cells of whose faces none is open, but for those on sides that the pressure does not act through.
template <class Field, class Target>
struct ShutInLoop {
  Field open[kAxes];
  int axis[kAxes];      ///< of each of `open`; one may come more than once
  bool closed[kSides];  ///< sides of the domain
  Box domain;
  Target fluid;

  TESSERA_KERNEL void operator()(Index x) const {
    double sum = 0.0;
    for (int n = 0; n < kAxes; ++n) {
      const int d = axis[n];
      if (!(closed[2 * d] && x[d] == domain.lo[d])) sum += open[n](x);
      if (!(closed[2 * d + 1] && x[d] + 1 == domain.hi[d])) sum += open[n](x + unit(d));
    }
    fluid(x) = sum > 0.0 ? fluid(x) : 0.0;
  }
};

struct SolidWhereShutIn {
  FlowParams params;

  template <class Task>
  void operator()(const Task& task) const {
    const auto fluid = task.modify(params.solids.fluid);
    const auto any = readFaces(task, New, params.solids.open, params.firstAxis());
    ShutInLoop<std::remove_cvref_t<decltype(any)>, std::remove_cvref_t<decltype(fluid)>> loop{
        {any, any, any}, {}, {}, task.level().domain(), fluid};
    for (int n = 0; n < kAxes; ++n) {
      // Another axis stands in for one of one cell.
      const int d = params.active[static_cast<std::size_t>(n)] ? n : params.firstAxis();
      loop.open[n] = readFaces(task, New, params.solids.open, d);
      loop.axis[n] = d;
    }
    for (int side = 0; side < kSides; ++side) {
      const FlowSide kind = params.sides[static_cast<std::size_t>(side)];
      loop.closed[side] = kind == FlowSide::Closed || kind == FlowSide::Given;
    }
    forEach(task.exec(), "Lowmach::shutIn", task.interior(), loop);
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

[[gnu::weak]] TaskBody solidWhereShutIn(const FlowParams& params) {
  return taskBody<Cpu, Gpu>(SolidWhereShutIn{params});
}

[[gnu::weak]] TaskBody stopAtSolids(const FlowParams& params, const FlowFaces& velocity) {
  return taskBody<Cpu, Gpu>(StopAtSolids{params, velocity});
}

}  // namespace tessera
