#pragma once

#include <cstdint>
#include <type_traits>

#include "components/rmcrt/ray_batch.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// Follows the rays of one cell after the other, as a device does. A class, since a kernel may take nothing
/// first where a place is chosen by `if constexpr`.
template <class View, class Source, class Target>
struct FollowFromCell {
  RayTracer<View> tracer;
  Source source;
  Target target;

  TESSERA_KERNEL void operator()(Index x) const {
    target.finish(x, target.wants(x) ? meanOfRays(tracer, source, x, target.own(x)) : 0.0);
  }
};

/// Follows rays from all cells of a box: on the host together, elsewhere one after the other.
template <class Task, class View, class Source, class Target>
void followRays(const Task& task, const char* name, const RayTracer<View>& tracer, const Source& source,
                const Target& target, const Box& box) {
  if constexpr (std::is_same_v<decltype(task.exec()), Cpu>) {
    followFromBox<MediumOf<View>>(tracer, source, target, box);
  } else {
    forEachHeavy(task.exec(), name, box, FollowFromCell<View, Source, Target>{tracer, source, target});
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

/// What stands around a medium; of the bits that the medium has, so that a wall as hot as it sends as much.
template <class Real>
RaySurfaces surfacesOf(const RayParams& params, PhiloxKey key) {
  RaySurfaces all;
  for (std::size_t side = 0; side < params.sides.size(); ++side) {
    all.sides[side] = params.sides[side];
    all.sides[side].intensity = static_cast<double>(static_cast<Real>(params.sides[side].intensity));
  }
  all.mirroredOfSolids = params.mirroredOfSolids;
  all.threshold = params.threshold;
  all.key = key;
  return all;
}

/// What follows the rays of a task on a patch.
template <class Task, class Medium>
auto rayTracer(const Task& task, Generation generation, Label<Medium, Cell> medium, const RayParams& params) {
  using View = typename Task::template FieldOf<const Medium>;
  const Level& level = task.level();
  const Level& coarsest = task.hierarchy().level(0);
  const RaySurfaces surfaces = surfacesOf<typename MediumTraits<Medium>::Real>(params, rayKey(task, params));
  const RayRegion far = regionOfRays(coarsest, coarsest.domain());
  const View whole = task.readLevel(generation, medium, 0);
  if (level.number() == 0) return RayTracer<View>{far, far, far, whole, whole, whole, false, surfaces};
  const View around = task.read(generation, medium);
  const RayRegion near =
      regionOfRays(level, intersect(grow(task.interior(), uniformHalo(params.halo)), level.domain()));
  if (level.number() == 1 || !params.middleHalo)
    return RayTracer<View>{near, far, far, around, whole, whole, false, surfaces};
  const Level& coarser = task.hierarchy().level(level.number() - 1);
  const Box under = coarsen(task.interior(), level.ratioToCoarser());
  const RayRegion middle =
      regionOfRays(coarser, intersect(grow(under, uniformHalo(*params.middleHalo)), coarser.domain()));
  return RayTracer<View>{near,  middle, far,     around, task.readCoarser(generation, medium),
                         whole, true,   surfaces};
}

}  // namespace tessera
