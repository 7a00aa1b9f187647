#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "components/error_norms_kernels.hpp"
#include "components/rmcrt/ray_batch.hpp"
#include "components/rmcrt/ray_source.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

inline constexpr double kPiOfRays = 0x1.921fb54442d18p1;

/// Cells of which the divergence of the flux is computed: 4 pi absorption (own intensity - mean of what
/// arrives).
template <class View, class Out>
struct DivergenceOfCells {
  View medium;
  Out divQ;

  TESSERA_KERNEL bool wants(Index x) const { return medium(x)[0] > 0.0; }
  TESSERA_KERNEL double own(Index x) const { return medium(x)[1]; }
  TESSERA_KERNEL void finish(Index x, double mean) const {
    const double absorption = medium(x)[0];
    divQ(x) = isSolidCode(absorption) ? 0.0 : -(4.0 * kPiOfRays * absorption) * mean;
  }
};

/// Cells beside a wall: the net flux on its faces, along the axis.
template <class View, class Out>
struct FluxOnWall {
  View medium;
  Out flux;
  RaySurface wall;
  Index toFace;      ///< from a cell to its face on the wall
  double direction;  ///< 1 where the wall is at the upper end of the axis, -1 at the lower

  TESSERA_KERNEL bool wants(Index x) const { return wall.emissivity > 0.0 && !isSolidCode(medium(x)[0]); }
  TESSERA_KERNEL double own(Index) const { return wall.intensity; }
  TESSERA_KERNEL void finish(Index x, double mean) const {
    flux(x + toFace) = direction * (kPiOfRays * wall.emissivity * mean);
  }
};

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
    followFromBox<double>(tracer, source, target, box);
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

/// The cells of a box that lie beside one side of the domain.
inline Box besideSide(Box box, const Box& domain, int side) {
  const int axis = side / 2;
  const std::int64_t plane = side % 2 == 1 ? domain.hi[axis] - 1 : domain.lo[axis];
  box.lo[axis] = std::max(box.lo[axis], plane);
  box.hi[axis] = std::min(box.hi[axis], plane + 1);
  return box;
}

struct TraceRays {
  RayParams params;
  RadiationLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const Level& coarsest = task.hierarchy().level(0);
    const RayRegion far = regionOfRays(coarsest, coarsest.domain());
    const auto whole = task.readLevel(New, labels.medium, 0);
    if (task.level().number() == 0)
      return withTracer(task, RayTracer<View<Task>>{far, far, whole, whole, surfaces(task)});
    const Box around = intersect(grow(task.interior(), uniformHalo(params.halo)), task.level().domain());
    withTracer(task, RayTracer<View<Task>>{regionOfRays(task.level(), around), far,
                                           task.read(New, labels.medium), whole, surfaces(task)});
  }

  template <class Task>
  using View = typename Task::template FieldOf<const MediumCell<double>>;

  template <class Task>
  PhiloxKey key(const Task& task) const {
    return {params.seed, static_cast<std::uint32_t>(task.step())};
  }
  template <class Task>
  RaySurfaces surfaces(const Task& task) const {
    RaySurfaces all;
    for (std::size_t side = 0; side < params.sides.size(); ++side) all.sides[side] = params.sides[side];
    all.mirroredOfSolids = params.mirroredOfSolids;
    all.threshold = params.threshold;
    all.key = key(task);
    return all;
  }

  template <class Task, class Tracer>
  void withTracer(const Task& task, const Tracer& tracer) const {
    const auto divQ = task.write(labels.divQ);
    const RayLaw law{params.rays, params.fromCentre, params.stratified, key(task)};
    const CellSource source{tracer.near, law, task.level().number()};
    const DivergenceOfCells<View<Task>, std::remove_cvref_t<decltype(divQ)>> target{tracer.nearMedium, divQ};
    task.forEachUncovered(
        [&](const Box& box) { followRays(task, "Rmcrt::trace", tracer, source, target, box); });
    task.forEachCovered([&](const Box& box) {
      forEach(task.exec(), "Rmcrt::covered", box, [=] TESSERA_KERNEL(Index x) { divQ(x) = 0.0; });
    });
    if (params.wallRays == 0) return;
    traceWalls(task, tracer, labels.flux.x, 0);
    traceWalls(task, tracer, labels.flux.y, 1);
    traceWalls(task, tracer, labels.flux.z, 2);
  }

  template <class Task, class Tracer, class FaceLabel>
  void traceWalls(const Task& task, const Tracer& tracer, FaceLabel label, int axis) const {
    const auto flux = task.write(label);
    forEach(task.exec(), "Rmcrt::noFlux", task.interior(label),
            [=] TESSERA_KERNEL(Index x) { flux(x) = 0.0; });
    const RayLaw law{params.wallRays, params.fromCentre, params.stratified, key(task)};
    if (!task.geometry().active(axis)) return;
    for (int side = 2 * axis; side <= 2 * axis + 1; ++side) {
      const bool high = side % 2 == 1;
      const WallSource source{tracer.near, law, task.level().number(), side};
      const FluxOnWall<View<Task>, std::remove_cvref_t<decltype(flux)>> target{
          tracer.nearMedium, flux, tracer.surfaces.sides[side], high ? unit(axis) : Index{},
          high ? 1.0 : -1.0};
      task.forEachUncovered([&](const Box& box) {
        const Box beside = besideSide(box, task.level().domain(), side);
        if (!beside.empty()) followRays(task, "Rmcrt::traceWall", tracer, source, target, beside);
      });
    }
  }
};

struct TotalsOfRadiation {
  RayParams params;
  RadiationLabels labels;
  RadiationTotals totals;

  template <class Task>
  void operator()(const Task& task) const {
    const auto divQ = task.read(Old, labels.divQ);
    const double volume = cellVolume(task.level());
    typename Task::ReducedSum loss;
    task.forEachUncovered([&](const Box& box) {
      loss.add(reduce(task.exec(), "Rmcrt::loss", box, Sum,
                      [=] TESSERA_KERNEL(Index x) { return divQ(x) * volume; }));
    });
    task.contribute(totals.loss, loss);
    if (params.wallRays == 0) return;
    addWalls(task, labels.flux.x, 0);
    addWalls(task, labels.flux.y, 1);
    addWalls(task, labels.flux.z, 2);
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

[[gnu::weak]] TaskBody traceRays(const RayParams& params, const RadiationLabels& labels) {
  return taskBody<Cpu, Gpu>(TraceRays{params, labels});
}

[[gnu::weak]] TaskBody totalsOfRadiation(const RayParams& params, const RadiationLabels& labels,
                                         const RadiationTotals& totals) {
  return taskBody<Cpu, Gpu>(TotalsOfRadiation{params, labels, totals});
}

}  // namespace tessera
