#pragma once

#include "core/elementary.hpp"
#include "core/philox.hpp"
#include "scheduler/jobs/job.hpp"
#include "tools/jobs/paths/scene.hpp"

namespace tessera::jobs {

/// Light on its way back from a camera: a path of rays, one a call. With shadow rays, each diffuse surface
/// asks for the light that comes from the lights straight away, and what the path meets next is no light to
/// it. Random numbers are by pixel, sample and number of the ray.
struct PathBody {
  static constexpr int kPushes = 0;
  static constexpr std::int64_t kBatches = 64;
  struct Unit {
    std::int32_t pixel = 0;  ///< row by row
    std::int32_t sample = 0;
    std::uint32_t rays = 0;
    Ray ray;
    bool isLit = false;  ///< shadow rays have brought the light of what the ray meets
    Real3 weight;
  };

  Scene scene;
  Real3 eye, ahead, right, up;  ///< right and up reach across the picture
  double start = 0.0;           ///< where rays begin, along `ahead`
  std::int32_t width = 1, height = 1;
  std::uint32_t seed = 1;
  std::uint32_t rouletteAfter = 5;
  std::uint32_t mostRays = 1000;
  std::uint32_t shadowRays = 0;  ///< at each diffuse surface
  SumArray image;                ///< by pixel and colour
  SumArray batches;              ///< by colour and batch of samples

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.pixel = static_cast<std::int32_t>(at.i);
    unit.sample = static_cast<std::int32_t>(at.k);
    unit.weight = {1.0, 1.0, 1.0};
    const PhiloxWords random = draw(unit, ~0U, 0);
    const std::int32_t row = unit.pixel / width;
    const std::int32_t column = unit.pixel - row * width;
    const double x = (static_cast<double>(column) + unitReal(random.x)) / width - 0.5;
    const double y = 0.5 - (static_cast<double>(row) + unitReal(random.y)) / height;
    const Real3 direction = (x * right + y * up) + ahead;
    unit.ray.from = eye + start * direction;
    unit.ray.to = normalised(direction);
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const RayHit hit = scene.nearest(unit.ray, 1e20);
    if (hit.isNothing() || unit.rays >= mostRays) return UnitEnd::Done;
    const SurfaceLook& look = scene.lookOf(hit);
    const PhiloxWords random = draw(unit, unit.rays++, 0);
    if (look.emission > 0.0 && !unit.isLit) addLight(unit, look.emission);
    Real3 colour = look.colour;
    const double most = colour.x > colour.y ? (colour.x > colour.z ? colour.x : colour.z)
                                            : (colour.y > colour.z ? colour.y : colour.z);
    if (most <= 0.0) return UnitEnd::Done;
    if (unit.rays > rouletteAfter) {
      if (unitReal(random.z) >= most) return UnitEnd::Done;
      colour = (1.0 / most) * colour;
    }
    unit.weight = {unit.weight.x * colour.x, unit.weight.y * colour.y, unit.weight.z * colour.z};
    unit.ray.from = unit.ray.from + hit.distance * unit.ray.to;
    unit.ray.leaves = hit.triangle;
    unit.isLit = false;
    const Real3 outward = scene.outward(hit, unit.ray.from);
    if (look.kind == Surface::Diffuse) {
      const Real3 normal = dot(outward, unit.ray.to) < 0.0 ? outward : -1.0 * outward;
      addDirectLight(unit, normal);
      unit.ray.to = scattered(normal, random);
    } else if (look.kind == Surface::Mirror) {
      unit.ray.to = unit.ray.to - (2.0 * dot(outward, unit.ray.to)) * outward;
    } else {
      throughGlass(unit, outward, unitReal(random.w));
    }
    return UnitEnd::GoOn;
  }

 private:
  TESSERA_KERNEL PhiloxWords draw(const Unit& unit, std::uint32_t ray, std::uint32_t more) const {
    return philox(
        {static_cast<std::uint32_t>(unit.pixel), static_cast<std::uint32_t>(unit.sample), ray, more},
        {seed, 0});
  }

  TESSERA_KERNEL void addLight(const Unit& unit, double radiance) const {
    const std::int64_t batch = (std::int64_t{unit.pixel} + unit.sample) % kBatches;
    for (int c = 0; c < kAxes; ++c) {
      image.add({unit.pixel, 0, c}, radiance * unit.weight[c]);
      batches.add({c, batch, 0}, radiance * unit.weight[c]);
    }
  }

  /// Sends the shadow rays: each to one of the lights, which are its spheres that emit and, as one more, its
  /// triangles that emit.
  TESSERA_KERNEL void addDirectLight(Unit& unit, Real3 normal) const {
    std::int32_t count = scene.lightCount > 0 ? 1 : 0;
    for (std::int32_t n = 0; n < scene.sphereCount; ++n) count += scene.emits(n) ? 1 : 0;
    if (shadowRays == 0 || count == 0) return;
    unit.isLit = true;
    double radiance = 0.0;
    for (std::uint32_t n = 0; n < shadowRays; ++n) {
      const PhiloxWords random = draw(unit, unit.rays, 1 + n);
      auto left = static_cast<std::int32_t>(unitReal(random.z) * count);
      std::int32_t sphere = 0;
      while (sphere < scene.sphereCount && (!scene.emits(sphere) || left-- > 0)) ++sphere;
      radiance += sphere < scene.sphereCount ? lightOfSphere(unit.ray, normal, sphere, random)
                                             : lightOfTriangles(unit.ray, normal, random);
    }
    addLight(unit, radiance * count / shadowRays);
  }

  /// What a random ray towards the sphere brings, over all directions in which the sphere is. Inside of the
  /// sphere these are all.
  TESSERA_KERNEL double lightOfSphere(const Ray& at, Real3 normal, std::int32_t n,
                                      const PhiloxWords& random) const {
    const SceneSphere& sphere = scene.spheres[n];
    const Real3 towards = sphere.centre - at.from;
    const double rest = 1.0 - sphere.radius * sphere.radius / dot(towards, towards);
    Ray ray = at;
    double part = 1.0;
    if (rest <= 1e-9) {
      ray.to = scattered(normal, random);
    } else {
      const double least = sqrt(rest);
      const double cosine = 1.0 - unitReal(random.y) * (1.0 - least);
      ray.to = around(normalised(towards), cosine, sqrt(1.0 - cosine * cosine), unitReal(random.x));
      part = 2.0 * (1.0 - least) * dot(normal, ray.to);
    }
    if (part <= 0.0) return 0.0;
    return scene.nearest(ray, 1e20).sphere == n ? part * scene.looks[sphere.look].emission : 0.0;
  }

  /// What a ray to a random place on the triangles that emit brings, over all such places.
  TESSERA_KERNEL double lightOfTriangles(const Ray& at, Real3 normal, const PhiloxWords& random) const {
    const double area = scene.lights(scene.lightCount - 1).areaUpTo;
    const std::int32_t number = scene.lightAt(unitReal(random.w) * area);
    const SceneTriangle& triangle = scene.triangles(number);
    const double side = sqrt(unitReal(random.x));
    const double along = unitReal(random.y) * side;
    const Real3 place = triangle.corner + ((1.0 - side) * triangle.edge1 + along * triangle.edge2);
    const Real3 towards = place - at.from;
    const double square = dot(towards, towards);
    if (number == at.leaves || square == 0.0) return 0.0;
    const double distance = sqrt(square);
    const Ray ray{at.from, (1.0 / distance) * towards, at.leaves};
    const double turned = dot(normalised(cross(triangle.edge1, triangle.edge2)), ray.to);
    const double cosines = dot(normal, ray.to) * (turned < 0.0 ? -turned : turned);
    if (cosines <= 0.0 || scene.nearest(ray, distance * 1.000001).triangle != number) return 0.0;
    return scene.looks[triangle.look].emission * cosines * area / (3.14159265358979323846 * square);
  }

  /// The direction at this angle around `axis`.
  TESSERA_KERNEL static Real3 around(Real3 axis, double cosine, double sine, double turn) {
    const SineCosine angle = plainSineCosine(turn);
    const bool isAlongX = axis.x > 0.1 || axis.x < -0.1;
    const Real3 u = normalised(cross(isAlongX ? Real3{0.0, 1.0, 0.0} : Real3{1.0, 0.0, 0.0}, axis));
    const Real3 v = cross(axis, u);
    return normalised(((angle.cosine * sine) * u + (angle.sine * sine) * v) + cosine * axis);
  }

  /// A direction around `normal`, as likely as its cosine.
  TESSERA_KERNEL static Real3 scattered(Real3 normal, const PhiloxWords& random) {
    const double r = unitReal(random.y);
    return around(normal, sqrt(1.0 - r), sqrt(r), unitReal(random.x));
  }

  /// Reflected or refracted, by Schlick's reflectance; one of the two, with a weight.
  TESSERA_KERNEL static void throughGlass(Unit& unit, Real3 outward, double u) {
    constexpr double kIndex = 1.5;
    Real3& to = unit.ray.to;
    const bool into = dot(outward, to) < 0.0;
    const Real3 normal = into ? outward : -1.0 * outward;
    const double ratio = into ? 1.0 / kIndex : kIndex;
    const double cosine = dot(to, normal);
    const double cos2 = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    const Real3 mirrored = to - (2.0 * cosine) * normal;
    if (cos2 < 0.0) {
      to = mirrored;
      return;
    }
    const Real3 refracted = normalised(ratio * to - (cosine * ratio + sqrt(cos2)) * normal);
    constexpr double kStraight = (kIndex - 1.0) * (kIndex - 1.0) / ((kIndex + 1.0) * (kIndex + 1.0));
    const double c = 1.0 - (into ? -cosine : dot(refracted, outward));
    const double reflects = kStraight + (1.0 - kStraight) * c * c * c * c * c;
    const double chance = 0.25 + 0.5 * reflects;
    const bool back = u < chance;
    to = back ? mirrored : refracted;
    unit.weight = (back ? reflects / chance : (1.0 - reflects) / (1.0 - chance)) * unit.weight;
  }
};

const JobKernels& pathKernels();

}  // namespace tessera::jobs
