#pragma once

#include <cstdint>
#include <type_traits>

#include "components/rmcrt/ray_batch.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// Follows the rays of one cell after the other, as a device does. A class, since a kernel may take nothing
/// first where a place is chosen by `if constexpr`.
template <class Tracer, class Source, class Target>
struct FollowFromCell {
  /// On an H200 4 to 18 % faster than one block with twice the registers (docs/figures/rays.md).
  static constexpr int kBlocksAtOnce = 2;

  Tracer tracer;
  Source source;
  Target target;
  RayParts parts;

  TESSERA_KERNEL void operator()(Index x) const {
    target.finish(x, target.wants(x) ? meanOfRays(tracer, source, x, target.own(x), parts) : 0.0);
  }
};

/// Sets a field to 0, cell by cell.
template <class Out>
struct SetTo0 {
  Out field;

  TESSERA_KERNEL void operator()(Index x) const { field(x) = 0.0; }
};

/// Follows rays from all cells of a box, or some parts of them: on the host together, elsewhere one after the
/// other.
template <class Task, class Tracer, class Source, class Target>
void followRays(const Task& task, const char* name, const Tracer& tracer, const Source& source,
                const Target& target, const Box& box, RayParts parts = {}) {
  if constexpr (std::is_same_v<decltype(task.exec()), Cpu>) {
    followFromBox<typename Tracer::Medium>(tracer, source, target, box, parts);
  } else {
    forEachHeavy(task.exec(), name, box,
                 FollowFromCell<Tracer, Source, Target>{tracer, source, target, parts});
  }
}

/// Cells of a level as rays see them: an axis of one cell goes on without end, so no ray leaves it.
inline RayRegion regionOfRays(const Level& level, const Box& cells) {
  RayRegion region{level.geometry().lower, level.spacing(), cells, level.domain()};
  for (int axis = 0; axis < kAxes; ++axis) {
    if (level.geometry().active(axis)) continue;
    region.lower[axis] = 0.0;
    region.spacing[axis] = RayRegion::kEndless;
  }
  return region;
}

template <class Task>
PhiloxKey rayKey(const Task& task, const RayParams& params) {
  return {params.seed, static_cast<std::uint32_t>(task.step())};
}

/// What stands around a medium, where a task is run.
template <class Task>
auto surfacesOf(const Task& task, const RayParams& params, const RayRegion& coarsest) {
  const auto table = task.table(params.walls.table);
  using Table = std::remove_cvref_t<decltype(table)>;
  RaySurfaces<Table> all{{table, {}, coarsest.lower, coarsest.spacing},
                         params.mirroredOfSolids,
                         params.threshold,
                         rayKey(task, params)};
  for (std::size_t side = 0; side < params.walls.sides.size(); ++side)
    all.walls.walls[side] = params.walls.sides[side];
  return all;
}

/// Cells of a coarser level that the rays of a patch of `level` pass: those under it, and `layers` around.
inline RayRegion regionUnder(const Hierarchy& hierarchy, LevelId level, Box cells, LevelId coarser,
                             std::int64_t layers) {
  for (LevelId l = level; l > coarser; --l) cells = coarsen(cells, hierarchy.level(l).ratioToCoarser());
  const Level& under = hierarchy.level(coarser);
  return regionOfRays(under, intersect(grow(cells, uniformHalo(layers)), under.domain()));
}

/// What follows the rays of a task on a patch; `Rmcrt::declareMediumReads` asks for what it reads.
template <class Task, class Medium>
auto rayTracer(const Task& task, Generation generation, Label<Medium, Cell> medium, const RayParams& params) {
  using View = typename Task::template FieldOf<const Medium>;
  const Hierarchy& hierarchy = task.hierarchy();
  const LevelId number = task.level().number();
  const Level& coarsest = hierarchy.level(0);
  const RayLayer<View> far{regionOfRays(coarsest, coarsest.domain()), task.readLevel(generation, medium, 0)};
  const auto surfaces = surfacesOf(task, params, far.region);
  using Table = std::remove_cvref_t<decltype(surfaces.walls.table)>;
  RayTracer<View, Table> tracer{{far, far, far, far}, 1, surfaces};
  if (number == 0) return tracer;
  tracer.layers[0] = {regionUnder(hierarchy, number, task.interior(), number, params.halo),
                      task.read(generation, medium)};
  if (params.middleHalo && number > 1) {
    tracer.layers[tracer.count++] = {
        regionUnder(hierarchy, number, task.interior(), number - 1, *params.middleHalo),
        task.readCoarser(generation, medium)};
  }
  if (params.middleHalo && number > 2) {
    tracer.layers[tracer.count++] = {
        regionUnder(hierarchy, number, task.interior(), number - 2, *params.middleHalo),
        task.readLevel(generation, medium, number - 2)};
  }
  ++tracer.count;
  return tracer;
}

}  // namespace tessera
