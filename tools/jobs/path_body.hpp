#pragma once

#include "core/elementary.hpp"
#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"
#include "tools/jobs/vector3.hpp"

namespace tessera::jobs {

enum class Surface : std::int32_t { Diffuse, Mirror, Glass };

/// A sphere of a scene, seen from either side.
struct SceneSphere {
  double radius = 1.0;
  Real3 centre;
  double emission = 0.0;  ///< the same in all colours
  Real3 colour;           ///< the part of light that it sends on
  Surface surface = Surface::Diffuse;
};

/// Light on its way back from a camera: a path of rays, one a call. Random numbers are by pixel, sample and
/// number of the ray.
struct PathBody {
  static constexpr int kPushes = 0;
  static constexpr int kMostSpheres = 12;
  static constexpr std::int64_t kBatches = 64;
  struct Unit {
    std::int32_t i = 0, j = 0, sample = 0;
    std::uint32_t rays = 0;
    Real3 from;
    Real3 to;
    Real3 weight;
  };

  SceneSphere spheres[kMostSpheres];
  int count = 0;
  Real3 eye, ahead, right, up;  ///< right and up reach across the picture
  double start = 0.0;           ///< where rays begin, along `ahead`
  std::int32_t width = 1, height = 1;
  std::uint32_t seed = 1;
  std::uint32_t rouletteAfter = 5;
  std::uint32_t mostRays = 1000;
  SumArray image;    ///< by pixel and colour
  SumArray batches;  ///< by colour and batch of samples

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.i = static_cast<std::int32_t>(at.i);
    unit.j = static_cast<std::int32_t>(at.j);
    unit.sample = static_cast<std::int32_t>(at.k);
    unit.weight = {1.0, 1.0, 1.0};
    const PhiloxWords random = draw(unit, ~0U);
    const double x = (at.i + unitReal(random.x)) / width - 0.5;
    const double y = 0.5 - (at.j + unitReal(random.y)) / height;
    const Real3 direction = (x * right + y * up) + ahead;
    unit.from = eye + start * direction;
    unit.to = normalised(direction);
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    double distance = 0.0;
    const int hit = nearest(unit, distance);
    if (hit < 0 || unit.rays >= mostRays) return UnitEnd::Done;
    const SceneSphere& sphere = spheres[hit];
    const PhiloxWords random = draw(unit, unit.rays++);
    if (sphere.emission > 0.0) addLight(unit, sphere.emission);
    Real3 colour = sphere.colour;
    const double most = colour.x > colour.y ? (colour.x > colour.z ? colour.x : colour.z)
                                            : (colour.y > colour.z ? colour.y : colour.z);
    if (most <= 0.0) return UnitEnd::Done;
    if (unit.rays > rouletteAfter) {
      if (unitReal(random.z) >= most) return UnitEnd::Done;
      colour = (1.0 / most) * colour;
    }
    unit.weight = {unit.weight.x * colour.x, unit.weight.y * colour.y, unit.weight.z * colour.z};
    unit.from = unit.from + distance * unit.to;
    const Real3 outward = normalised(unit.from - sphere.centre);
    if (sphere.surface == Surface::Diffuse) {
      unit.to = scattered(dot(outward, unit.to) < 0.0 ? outward : -1.0 * outward, random);
    } else if (sphere.surface == Surface::Mirror) {
      unit.to = unit.to - (2.0 * dot(outward, unit.to)) * outward;
    } else {
      throughGlass(unit, outward, unitReal(random.w));
    }
    return UnitEnd::GoOn;
  }

 private:
  TESSERA_KERNEL PhiloxWords draw(const Unit& unit, std::uint32_t ray) const {
    return philox({static_cast<std::uint32_t>(unit.i + std::int64_t{width} * unit.j),
                   static_cast<std::uint32_t>(unit.sample), ray, 0},
                  {seed, 0});
  }

  /// The sphere that the ray meets first; -1: none.
  TESSERA_KERNEL int nearest(const Unit& unit, double& distance) const {
    constexpr double kAway = 1e-4;  // from where the ray begins
    int hit = -1;
    distance = 1e20;
    for (int n = 0; n < count; ++n) {
      const Real3 towards = spheres[n].centre - unit.from;
      const double b = dot(towards, unit.to);
      const double square = b * b - dot(towards, towards) + spheres[n].radius * spheres[n].radius;
      if (square < 0.0) continue;
      const double root = sqrt(square);
      const double at = b - root > kAway ? b - root : b + root;
      if (at <= kAway || at >= distance) continue;
      distance = at;
      hit = n;
    }
    return hit;
  }

  TESSERA_KERNEL void addLight(const Unit& unit, double emission) const {
    const std::int64_t batch = (unit.i + std::int64_t{width} * unit.j + unit.sample) % kBatches;
    for (int c = 0; c < kAxes; ++c) {
      image.add({unit.i, unit.j, c}, emission * unit.weight[c]);
      batches.add({c, batch, 0}, emission * unit.weight[c]);
    }
  }

  /// A direction around `normal`, as likely as its cosine.
  TESSERA_KERNEL static Real3 scattered(Real3 normal, const PhiloxWords& random) {
    const double r = unitReal(random.y);
    const SineCosine angle = plainSineCosine(unitReal(random.x));
    const bool isAlongX = normal.x > 0.1 || normal.x < -0.1;
    const Real3 u = normalised(cross(isAlongX ? Real3{0.0, 1.0, 0.0} : Real3{1.0, 0.0, 0.0}, normal));
    const Real3 v = cross(normal, u);
    const double s = sqrt(r);
    return normalised(((angle.cosine * s) * u + (angle.sine * s) * v) + sqrt(1.0 - r) * normal);
  }

  /// Reflected or refracted, by Schlick's reflectance; one of the two, with a weight.
  TESSERA_KERNEL static void throughGlass(Unit& unit, Real3 outward, double u) {
    constexpr double kIndex = 1.5;
    const bool into = dot(outward, unit.to) < 0.0;
    const Real3 normal = into ? outward : -1.0 * outward;
    const double ratio = into ? 1.0 / kIndex : kIndex;
    const double cosine = dot(unit.to, normal);
    const double cos2 = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    const Real3 mirrored = unit.to - (2.0 * cosine) * normal;
    if (cos2 < 0.0) {
      unit.to = mirrored;
      return;
    }
    const Real3 refracted = normalised(ratio * unit.to - (cosine * ratio + sqrt(cos2)) * normal);
    constexpr double kStraight = (kIndex - 1.0) * (kIndex - 1.0) / ((kIndex + 1.0) * (kIndex + 1.0));
    const double c = 1.0 - (into ? -cosine : dot(refracted, outward));
    const double reflects = kStraight + (1.0 - kStraight) * c * c * c * c * c;
    const double chance = 0.25 + 0.5 * reflects;
    const bool back = u < chance;
    unit.to = back ? mirrored : refracted;
    unit.weight = (back ? reflects / chance : (1.0 - reflects) / (1.0 - chance)) * unit.weight;
  }
};

const JobKernels& pathKernels();

}  // namespace tessera::jobs
