#pragma once

#include <cstdint>
#include <type_traits>

#include "components/error_norms_kernels.hpp"
#include "components/rmcrt/beside_side.hpp"
#include "components/rmcrt/boxes/ray_box.hpp"
#include "components/rmcrt/level_rays.hpp"
#include "components/rmcrt/ray_source.hpp"

namespace tessera {

/// Cells of a box that lie beside one of its sides: adds what rays to the one or to the other side of the
/// face say of the power that leaves the box. All is counted from the intensity of the cell, so between
/// equals the power is exactly 0. A solid cell sends and takes up the part of its emissivity.
template <class View, class Out>
struct PowerThroughFace {
  View medium;
  RayRegion region;  ///< of the level
  Out power;
  double taken = 0.0;  ///< what the intensity of the mean ray is to the power; below 0 where that enters
  std::int32_t side = 0;
  bool outward = false;  ///< whether the rays look out of the box

  TESSERA_KERNEL bool wants(Index x) const {
    if (!isSolidCode(medium(x)[0])) return true;
    return outward && !isBuriedBeyond(x);
  }
  TESSERA_KERNEL double own(Index x) const { return medium(x)[1]; }
  TESSERA_KERNEL void finish(Index x, double mean) const {
    const double absorption = medium(x)[0];
    power(x) += (isSolidCode(absorption) ? emissivityOfCode(absorption) * taken : taken) * mean;
  }

 private:
  /// Whether there is no gas beyond the face of a solid cell, as far as that is known here.
  TESSERA_KERNEL bool isBuriedBeyond(Index x) const {
    x[side / 2] += side % 2 == 1 ? 1 : -1;
    if (!region.domain.contains(x)) return true;
    return region.cells.contains(x) && isSolidCode(medium(x)[0]);
  }
};

/// The power that leaves a box through the faces of a patch: a part of the task of a step with radiation.
/// `law`: of the rays of a face.
template <class Task, class Tracer>
void traceBox(const Task& task, const Tracer& tracer, const RayBox& box, const RayLaw& law) {
  const auto power = task.write(box.power);
  using Out = std::remove_cvref_t<decltype(power)>;
  using View = std::remove_cvref_t<decltype(tracer.nearMedium())>;
  forEach(task.exec(), "Rmcrt::noPower", task.interior(), SetTo0<Out>{power});
  const LevelId level = task.level().number();
  const Box cells = cellsOfBox(task.hierarchy(), box.cells, level);
  for (int side = 0; side < 2 * kAxes; ++side) {
    if (!task.geometry().active(side / 2)) continue;
    const double area = cellVolume(task.level()) / task.spacing()[side / 2];
    for (const bool outward : {false, true}) {
      const FaceSource source{tracer.near(), law, level, side, outward, RaySeries::ofBox(side, outward)};
      const PowerThroughFace<View, Out> target{tracer.nearMedium(),
                                               tracer.near(),
                                               power,
                                               (outward ? -kPiOfRays : kPiOfRays) * area,
                                               side,
                                               outward};
      task.forEachUncovered([&](const Box& uncovered) {
        const Box beside = besideSide(intersect(uncovered, cells), cells, side);
        if (!beside.empty()) followRays(task, "Rmcrt::traceBox", tracer, source, target, beside);
      });
    }
  }
}

}  // namespace tessera
