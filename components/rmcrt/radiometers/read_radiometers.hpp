#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "components/rmcrt/level_rays.hpp"
#include "components/rmcrt/radiometers/radiometer.hpp"

namespace tessera {

/// Takes the mean of the rays of a radiometer, for which the instrument sends nothing itself.
struct RadiometerMean {
  double* mean;

  bool wants(Index) const { return true; }
  double own(Index) const { return 0.0; }
  void finish(Index, double of) const { *mean = of; }
};

/// The task of a line of the history on one patch: each radiometer that stands in a cell of the patch which
/// no finer one covers is read, and contributes that number; of all other patches nothing comes. So the sum
/// over patches has one term, and the same bits for any of them.
template <class Medium>
struct ReadRadiometers {
  Label<Medium, Cell> medium;
  RayParams params;
  std::vector<Radiometer> radiometers;

  template <class Task>
  void operator()(const Task& task) const {
    const auto tracer = rayTracer(task, Old, medium, params);
    for (const Radiometer& radiometer : radiometers) {
      typename Task::ReducedSum reading;
      const Real3 place = placeFor(task.geometry(), radiometer.place);
      const Index x = cellOf(tracer.near(), place);
      task.forEachUncovered([&](const Box& box) {
        if (box.contains(x)) reading.add(read(task, tracer, radiometer, place, x));
      });
      task.contribute(radiometer.reading, reading);
    }
  }

  /// Pi sin^2(half the angle of view) times the mean over rays by the cosine law; 0 within something solid.
  template <class Task, class Tracer>
  double read(const Task& task, const Tracer& tracer, const Radiometer& radiometer, const Real3& place,
              Index x) const {
    const RayLaw law{radiometer.rays, true, params.stratified, rayKey(task, params),
                     MediumTraits<Medium>::kScatters};
    const RadiometerSource source{law,
                                  place,
                                  radiometer.direction,
                                  radiometer.right,
                                  radiometer.up,
                                  radiometer.sineSquared,
                                  radiometer.number};
    double mean = 0.0;
    if (isSolidCode(tracer.nearMedium()(x)[0])) return mean;
    followRays(task, "Rmcrt::readRadiometer", tracer, source, RadiometerMean{&mean},
               Box{x, x + Index{1, 1, 1}});
    return kPiOfRays * radiometer.sineSquared * mean;
  }

  /// Along an axis of one cell all goes on alike: in its middle.
  static Real3 placeFor(const Geometry& geometry, Real3 place) {
    for (int d = 0; d < kAxes; ++d) place[d] = geometry.active(d) ? place[d] : 0.5 * RayRegion::kEndless;
    return place;
  }
  /// The cell that holds a place; one on the upper side of the domain belongs to the last cell.
  static Index cellOf(const RayRegion& region, const Real3& place) {
    Index x;
    for (int d = 0; d < kAxes; ++d) {
      const double cells = std::floor((place[d] - region.lower[d]) / region.spacing[d]);
      x[d] = std::clamp(static_cast<std::int64_t>(cells), region.domain.lo[d], region.domain.hi[d] - 1);
    }
    return x;
  }
};

/// On the host alone: rays of one radiometer after the other would keep one thread of a device busy.
template <class Medium>
TaskBody readRadiometers(Label<Medium, Cell> medium, const RayParams& params,
                         const std::vector<Radiometer>& radiometers) {
  return taskBody<Cpu>(ReadRadiometers<Medium>{medium, params, radiometers});
}

}  // namespace tessera
