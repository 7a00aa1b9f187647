#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"
#include "components/reflux/level_ends.hpp"

namespace tessera {

struct DivergenceToRemove {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> rightHandSide;

  template <class Task>
  void operator()(const Task& task) const {
    const auto divergence = divergenceOf(task, params, New, stage.to.velocity);
    const auto f = task.write(rightHandSide);
    const double perTime = 1.0 / (stage.ofStage * task.dt());
    if (params.densityVaries) {
      const auto expansion = task.read(New, params.expansion);
      forEach(task.exec(), "Lowmach::rightHandSide", task.interior(),
              [=] TESSERA_KERNEL(Index x) { f(x) = perTime * (expansion(x) - divergence(x)); });
      if (!params.isClosed) return;
      const double size = sizeOfCell(task);
      if (params.solids.areThere) countFluid(task, size);
      typename Task::ReducedSum excess;
      task.forEachUncovered([&](const Box& cells) {
        excess.add(reduce(task.exec(), "Lowmach::excess", cells, Sum,
                          [=] TESSERA_KERNEL(Index x) { return size * (expansion(x) - divergence(x)); }));
      });
      task.contribute(params.excess, excess);
    } else {
      forEach(task.exec(), "Lowmach::divergence", task.interior(),
              [=] TESSERA_KERNEL(Index x) { f(x) = perTime * (0.0 - divergence(x)); });
    }
  }

  /// Cells with fluid, each by its size.
  template <class Task>
  void countFluid(const Task& task, double size) const {
    const auto fluid = task.read(Old, params.solids.fluid);
    typename Task::ReducedSum number;
    task.forEachUncovered([&](const Box& cells) {
      number.add(reduce(task.exec(), "Lowmach::fluidCells", cells, Sum,
                        [=] TESSERA_KERNEL(Index x) { return size * fluid(x); }));
    });
    task.contribute(params.solids.cells, number);
  }
};

struct KeepVolume {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> rightHandSide;

  template <class Task>
  void operator()(const Task& task) const {
    const auto f = task.modify(rightHandSide);
    const auto expansion = task.modify(params.expansion);
    const double perTime = 1.0 / (stage.ofStage * task.dt());
    if (params.solids.areThere) {
      const auto fluid = task.read(Old, params.solids.fluid);
      const double mean = task.reduced(params.excess) / task.reduced(params.solids.cells);
      forEach(task.exec(), "Lowmach::keepVolumeOfFluid", task.interior(), [=] TESSERA_KERNEL(Index x) {
        f(x) = f(x) - perTime * mean * fluid(x);
        expansion(x) = expansion(x) - mean * fluid(x);
      });
      return;
    }
    const double cells = static_cast<double>(task.hierarchy().level(0).domain().volume());
    const double mean = task.reduced(params.excess) / cells;
    forEach(task.exec(), "Lowmach::keepVolume", task.interior(), [=] TESSERA_KERNEL(Index x) {
      f(x) = f(x) - perTime * mean;
      expansion(x) = expansion(x) - mean;
    });
  }
};

/// Faces where a level ends, from the cells beyond them.
template <class Field, class Target, class Cells>
struct ProjectAtEnd {
  Target u;
  Field p;
  NumberOrField<Field> lightness;
  BeyondLevel<Field, Field, Cells> beyond;
  Index toFace;
  double factor;  ///< below 0 where the cells beyond are the upper ones

  TESSERA_KERNEL void operator()(Index x) const {
    const Index face = x + toFace;
    u(face) = u(face) - factor * lightness(face) * (p(x + beyond.in) - beyond(x));
  }
};

struct ProjectVelocity {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> pressure;

  template <class Task>
  void operator()(const Task& task) const {
    const auto p = task.read(New, pressure);
    const double time = stage.ofStage * task.dt() / (params.hasLightness() ? 1.0 : params.density);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto u = modifyFaces(task, stage.to.velocity, axis);
      const Index e = unit(axis);
      const double factor = time * task.inverseSpacing()[axis];
      const auto onLevel = [&](const Box& faces) {
        if (params.hasLightness()) {
          const auto b = readFaces(task, New, params.lightness, axis);
          forEach(task.exec(), "Lowmach::project", faces,
                  [=] TESSERA_KERNEL(Index x) { u(x) = u(x) - factor * b(x) * (p(x) - p(x - e)); });
        } else {
          forEach(task.exec(), "Lowmach::projectUniform", faces,
                  [=] TESSERA_KERNEL(Index x) { u(x) = u(x) - factor * (p(x) - p(x - e)); });
        }
      };
      forEachFaceOfLevel(task, facesAcross(task, stage.to.velocity, axis), axis, onLevel,
                         [&](const Box& cells, bool high) { atEnd(task, u, axis, high, factor, cells); });
    }
  }

  /// With the gradient that the solve has balanced.
  template <class Task, class Target>
  void atEnd(const Task& task, const Target& u, int axis, bool high, double factor, const Box& cells) const {
    if (!params.solids.areThere) return atEnd(task, u, axis, high, factor, cells, AllCells{});
    const auto fluid = task.read(Old, params.solids.fluid);
    atEnd(
        task, u, axis, high, factor, cells,
        CellsOfOne<std::remove_cvref_t<decltype(fluid)>>{task.readCoarser(Old, params.solids.fluid), fluid});
  }

  template <class Task, class Target, class Cells>
  void atEnd(const Task& task, const Target& u, int axis, bool high, double factor, const Box& cells,
             const Cells& fluid) const {
    const auto p = task.read(New, pressure);
    using Field = std::remove_cvref_t<decltype(p)>;
    const Index e = unit(axis);
    NumberOrField<Field> lightness{p, 1.0, 0.0};
    if (params.hasLightness()) lightness = {readFaces(task, New, params.lightness, axis), 0.0, 1.0};
    const ProjectAtEnd<Field, Target, Cells> loop{
        u,
        p,
        lightness,
        {task.readCoarser(New, pressure), p, refinementBelow(task), axis, high ? Index{} - e : e, fluid},
        high ? Index{} : e,
        high ? -factor : factor};
    forEach(task.exec(), "Lowmach::projectAtEnd", cells, loop);
  }
};

[[gnu::weak]] TaskBody divergenceToRemove(const FlowParams& params, const FlowStage& stage,
                                          Label<double, Cell> rightHandSide) {
  return taskBody<Cpu, Gpu>(DivergenceToRemove{params, stage, rightHandSide});
}

[[gnu::weak]] TaskBody keepVolume(const FlowParams& params, const FlowStage& stage,
                                  Label<double, Cell> rightHandSide) {
  return taskBody<Cpu, Gpu>(KeepVolume{params, stage, rightHandSide});
}

[[gnu::weak]] TaskBody projectVelocity(const FlowParams& params, const FlowStage& stage,
                                       Label<double, Cell> pressure) {
  return taskBody<Cpu, Gpu>(ProjectVelocity{params, stage, pressure});
}

}  // namespace tessera
