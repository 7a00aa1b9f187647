#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "components/rmcrt/beside_side.hpp"
#include "components/rmcrt/boxes/trace_box.hpp"
#include "components/rmcrt/level_rays.hpp"
#include "components/rmcrt/ray_source.hpp"

namespace tessera {

/// Which cells want rays.
template <class View>
struct CellsThatAsk {
  View medium;
  bool keepsIncident = false;

  TESSERA_KERNEL bool wants(Index x) const {
    const double absorption = medium(x)[0];
    return absorption > 0.0 || (keepsIncident && !isSolidCode(absorption));
  }
  TESSERA_KERNEL double own(Index x) const { return medium(x)[1]; }
};

/// Cells of which the divergence of the flux is computed: 4 pi absorption (own intensity - mean of what
/// arrives).
template <class View, class Out>
struct DivergenceOfCells : CellsThatAsk<View> {
  Out divQ;
  Out incident;  ///< what arrives from all directions; `divQ` again where nobody asks for it

  TESSERA_KERNEL void finish(Index x, double mean) const {
    const auto cell = this->medium(x);
    const double absorption = cell[0];
    if (this->keepsIncident) incident(x) = isSolidCode(absorption) ? 0.0 : 4.0 * kPiOfRays * (cell[1] + mean);
    divQ(x) = isSolidCode(absorption) ? 0.0 : -(4.0 * kPiOfRays * absorption) * mean;
  }
};

/// The same from sums of parts of the rays, of all cells of a patch.
template <class Divergence, class In>
struct DivergenceOfParts {
  Divergence cells;
  In parts[RayParts::kCount];  // NOLINT: a kernel has no std::array
  std::uint32_t rays = 1;

  TESSERA_KERNEL void operator()(Index x) const {
    double sum = 0.0;
    for (const In& part : parts) sum += part(x);
    cells.finish(x, cells.wants(x) ? RayParts{}.result(sum, rays) : 0.0);
  }
};

/// Cells of which a part of the rays is summed.
template <class View, class Out>
struct SumOfPart : CellsThatAsk<View> {
  Out sum;

  TESSERA_KERNEL void finish(Index x, double value) const { sum(x) = value; }
};

/// Cells beside a wall: the net flux on its faces, along the axis.
template <class View, class Table, class Out>
struct FluxOnWall {
  using Real = typename MediumTraits<MediumOf<View>>::Real;

  View medium;
  RayWalls<Table> walls;
  RayRegion region;  ///< of the level
  Out flux;
  std::int32_t side = 0;

  TESSERA_KERNEL bool isHigh() const { return side % 2 == 1; }
  TESSERA_KERNEL RaySurface wall(Index x) const {
    Real3 place;
    for (int d = 0; d < kAxes; ++d)
      place[d] = region.lower[d] + (static_cast<double>(x[d]) + 0.5) * region.spacing[d];
    return walls.template at<Real>(side, place);
  }
  TESSERA_KERNEL bool wants(Index x) const { return wall(x).emissivity > 0.0 && !isSolidCode(medium(x)[0]); }
  TESSERA_KERNEL double own(Index x) const { return wall(x).intensity; }
  TESSERA_KERNEL void finish(Index x, double mean) const {
    const double into = kPiOfRays * wall(x).emissivity * mean;
    if (isHigh()) ++x[side / 2];
    flux(x) = isHigh() ? into : -into;
  }
};

/// A task of a step with radiation on one patch: divergence of the flux, and what arrives if that is asked
/// for, in the cells that no finer patch covers, or the sums of parts of their rays; fluxes on the walls
/// beside them; powers that leave boxes. Random numbers are those of the cells, so that patches and their
/// order make no difference.
template <class Medium>
struct TraceRays {
  Label<Medium, Cell> medium;
  RayParams params;
  RadiationLabels labels;
  RayWork work;

  template <class Task>
  void operator()(const Task& task) const {
    const auto tracer = rayTracer(task, New, medium, params);
    if (work.cells && work.parts.areAll()) traceCells(task, tracer);
    if (work.cells && !work.parts.areAll()) traceParts(task, tracer);
    if (work.walls[0]) traceWalls(task, tracer, labels.flux.x, 0);
    if (work.walls[1]) traceWalls(task, tracer, labels.flux.y, 1);
    if (work.walls[2]) traceWalls(task, tracer, labels.flux.z, 2);
    for (const RayBox& box : work.boxes) traceBox(task, tracer, box, law(task, box.rays));
  }

  /// So many rays from each cell or face.
  template <class Task>
  RayLaw law(const Task& task, std::uint32_t rays) const {
    return {rays, params.fromCentre, params.stratified, rayKey(task, params),
            MediumTraits<Medium>::kScatters};
  }

  /// The cells of the patch; those under finer patches take the mean of these in a later task.
  template <class Task, class Tracer>
  void traceCells(const Task& task, const Tracer& tracer) const {
    const auto divQ = task.write(*labels.divQ);
    const CellSource source{tracer.near(), law(task, params.rays), task.level().number()};
    const bool keeps = labels.incident.has_value();
    const auto incident = keeps ? task.write(*labels.incident) : divQ;
    using View = std::remove_cvref_t<decltype(tracer.nearMedium())>;
    using Out = std::remove_cvref_t<decltype(divQ)>;
    const DivergenceOfCells<View, Out> target{{tracer.nearMedium(), keeps}, divQ, incident};
    task.forEachUncovered(
        [&](const Box& box) { followRays(task, "Rmcrt::trace", tracer, source, target, box); });
    task.forEachCovered([&](const Box& box) {
      forEach(task.exec(), "Rmcrt::covered", box, SetTo0<Out>{divQ});
      if (keeps) forEach(task.exec(), "Rmcrt::covered", box, SetTo0<Out>{incident});
    });
  }

  /// The sums of some parts of the rays of these cells.
  template <class Task, class Tracer>
  void traceParts(const Task& task, const Tracer& tracer) const {
    const CellSource source{tracer.near(), law(task, params.rays), task.level().number()};
    using View = std::remove_cvref_t<decltype(tracer.nearMedium())>;
    for (int part = work.parts.first; part < work.parts.last; ++part) {
      const auto sum = task.write(labels.parts[static_cast<std::size_t>(part)]);
      using Out = std::remove_cvref_t<decltype(sum)>;
      const SumOfPart<View, Out> target{{tracer.nearMedium(), labels.incident.has_value()}, sum};
      task.forEachUncovered([&](const Box& box) {
        followRays(task, "Rmcrt::tracePart", tracer, source, target, box, {part, part + 1});
      });
      task.forEachCovered(
          [&](const Box& box) { forEach(task.exec(), "Rmcrt::covered", box, SetTo0<Out>{sum}); });
    }
  }

  /// The faces of the patch across one axis: those on walls have a flux, all others 0.
  template <class Task, class Tracer, class FaceLabel>
  void traceWalls(const Task& task, const Tracer& tracer, FaceLabel label, int axis) const {
    const auto flux = task.write(label);
    using Out = std::remove_cvref_t<decltype(flux)>;
    forEach(task.exec(), "Rmcrt::noFlux", task.interior(label), SetTo0<Out>{flux});
    if (!task.geometry().active(axis)) return;
    for (int side = 2 * axis; side <= 2 * axis + 1; ++side) {
      const FaceSource source{tracer.near(), law(task, params.wallRays), task.level().number(), side,
                              false,         RaySeries::ofWall(side)};
      using View = std::remove_cvref_t<decltype(tracer.nearMedium())>;
      using Table = std::remove_cvref_t<decltype(tracer.surfaces.walls.table)>;
      const FluxOnWall<View, Table, Out> target{tracer.nearMedium(), tracer.surfaces.walls, tracer.near(),
                                                flux, side};
      task.forEachUncovered([&](const Box& box) {
        const Box beside = besideSide(box, task.level().domain(), side);
        if (!beside.empty()) followRays(task, "Rmcrt::traceWall", tracer, source, target, beside);
      });
    }
  }
};

/// Puts the parts of the rays of the cells of a patch together.
template <class Medium>
struct SumRays {
  Label<Medium, Cell> medium;
  RayParams params;
  RadiationLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto divQ = task.write(*labels.divQ);
    const bool keeps = labels.incident.has_value();
    const auto incident = keeps ? task.write(*labels.incident) : divQ;
    const auto cells = task.read(New, medium);
    using View = std::remove_cvref_t<decltype(cells)>;
    using Out = std::remove_cvref_t<decltype(divQ)>;
    const DivergenceOfCells<View, Out> divergence{{cells, keeps}, divQ, incident};
    sum(task, divergence, std::make_index_sequence<RayParts::kCount>{});
  }

  template <class Task, class Divergence, std::size_t... part>
  void sum(const Task& task, const Divergence& divergence, std::index_sequence<part...> /*of*/) const {
    using In = typename Task::template FieldOf<const double>;
    forEach(
        task.exec(), "Rmcrt::sum", task.interior(),
        DivergenceOfParts<Divergence, In>{divergence, {task.read(New, labels.parts[part])...}, params.rays});
  }
};

/// Instantiated in a source of kernels for each kind of medium, so that no object takes the compiler long.
template <class Medium>
TaskBody traceRays(Label<Medium, Cell> medium, const RayParams& params, const RadiationLabels& labels,
                   const RayWork& work) {
  return taskBody<Cpu, Gpu>(TraceRays<Medium>{medium, params, labels, work});
}

template <class Medium>
TaskBody sumRays(Label<Medium, Cell> medium, const RayParams& params, const RadiationLabels& labels) {
  return taskBody<Cpu, Gpu>(SumRays<Medium>{medium, params, labels});
}

}  // namespace tessera
