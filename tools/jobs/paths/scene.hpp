#pragma once

#include "scheduler/jobs/array.hpp"
#include "tools/jobs/vector3.hpp"

namespace tessera::jobs {

enum class Surface : std::int32_t { Diffuse, Mirror, Glass };

/// How a surface looks from either side: what it emits, and what it does with light that meets it.
struct SurfaceLook {
  double emission = 0.0;  ///< radiance, the same in all colours
  Real3 colour;           ///< the part of light that it sends on
  Surface kind = Surface::Diffuse;
};

/// A sphere of a scene.
struct SceneSphere {
  double radius = 1.0;
  Real3 centre;
  std::int32_t look = 0;
};

/// A triangle of a scene: a corner, and the way from it to both others.
struct SceneTriangle {
  Real3 corner;
  Real3 edge1;
  Real3 edge2;
  std::int32_t look = 0;
};

/// A box of a tree over triangles, in the order of a walk from the root: its first child comes behind it.
struct TreeBox {
  Real3 low;
  Real3 high;
  std::int32_t next = 0;   ///< the box after all that lie in this one
  std::int32_t first = 0;  ///< of a leaf: its triangles
  std::int32_t count = 0;  ///< 0: no leaf
};

/// A triangle that emits light, with the area of all up to it and the triangle's own.
struct LightTriangle {
  std::int32_t triangle = 0;
  double areaUpTo = 0.0;
};

/// A ray of light. `leaves` is the triangle on which it begins, and which it cannot meet again; -1: none.
struct Ray {
  Real3 from;
  Real3 to;  ///< of length 1
  std::int32_t leaves = -1;
};

/// What a ray meets first.
struct RayHit {
  double distance = 1e20;
  std::int32_t sphere = -1;
  std::int32_t triangle = -1;

  TESSERA_KERNEL bool isNothing() const { return sphere < 0 && triangle < 0; }
};

/// Spheres and triangles, as kernels see them. A plain value with views.
struct Scene {
  static constexpr int kMostSpheres = 12;
  static constexpr int kMostLooks = 16;
  /// Where a ray leaves a sphere, what is nearer than this is the sphere itself.
  static constexpr double kAway = 1e-4;

  SceneSphere spheres[kMostSpheres];
  SurfaceLook looks[kMostLooks];
  std::int32_t sphereCount = 0;
  std::int32_t lookCount = 0;
  std::int32_t boxCount = 0;    ///< 0: no triangles
  std::int32_t lightCount = 0;  ///< triangles that emit
  std::int32_t load = 0;        ///< made-up work for each box and sphere that is looked at, for measurements
  Array<const SceneTriangle> triangles;
  Array<const TreeBox> boxes;
  Array<const LightTriangle> lights;

  TESSERA_KERNEL const SurfaceLook& lookOf(const RayHit& hit) const {
    return looks[hit.sphere >= 0 ? spheres[hit.sphere].look : triangles(hit.triangle).look];
  }
  /// At a place on what was hit: away from the centre of a sphere; of a triangle, to the side from which its
  /// corners go round against the clock.
  TESSERA_KERNEL Real3 outward(const RayHit& hit, Real3 at) const {
    if (hit.sphere >= 0) return normalised(at - spheres[hit.sphere].centre);
    const SceneTriangle& triangle = triangles(hit.triangle);
    return normalised(cross(triangle.edge1, triangle.edge2));
  }

  TESSERA_KERNEL bool emits(std::int32_t sphere) const { return looks[spheres[sphere].look].emission > 0.0; }
  /// The triangle that emits where all of them have this area behind them.
  TESSERA_KERNEL std::int32_t lightAt(double area) const {
    std::int32_t low = 0;
    std::int32_t high = lightCount - 1;
    while (low < high) {
      const std::int32_t middle = (low + high) / 2;
      if (lights(middle).areaUpTo > area) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return lights(low).triangle;
  }

  /// What the ray meets first, nearer than `within`.
  TESSERA_KERNEL RayHit nearest(const Ray& ray, double within) const {
    RayHit hit;
    hit.distance = within;
    for (std::int32_t n = 0; n < sphereCount; ++n) {
      const double at = spentWork() < 0.0 ? 0.0 : meets(spheres[n], ray);
      if (at <= kAway || at >= hit.distance) continue;
      hit = {at, n, -1};
    }
    const Real3 inverse{inverseOf(ray.to.x), inverseOf(ray.to.y), inverseOf(ray.to.z)};
    for (std::int32_t n = 0; n < boxCount;) {
      const TreeBox& box = boxes(n);
      if (spentWork() < 0.0 || !meets(box, ray.from, inverse, hit.distance)) {
        n = box.next;
        continue;
      }
      for (std::int32_t t = box.first; t < box.first + box.count; ++t) {
        const double at = t == ray.leaves ? 0.0 : meets(triangles(t), ray);
        if (at > 0.0 && at < hit.distance) hit = {at, -1, t};
      }
      ++n;
    }
    return hit;
  }

  /// The distance at which the ray meets a sphere, 0: it does not.
  TESSERA_KERNEL static double meets(const SceneSphere& sphere, const Ray& ray) {
    const Real3 towards = sphere.centre - ray.from;
    const double b = dot(towards, ray.to);
    const double square = b * b - dot(towards, towards) + sphere.radius * sphere.radius;
    if (square < 0.0) return 0.0;
    const double root = sqrt(square);
    return b - root > kAway ? b - root : b + root;
  }

  /// The distance at which the ray meets a triangle, 0: it does not.
  TESSERA_KERNEL static double meets(const SceneTriangle& triangle, const Ray& ray) {
    const Real3 p = cross(ray.to, triangle.edge2);
    const double determinant = dot(triangle.edge1, p);
    if (determinant == 0.0) return 0.0;
    const double inverse = 1.0 / determinant;
    const Real3 away = ray.from - triangle.corner;
    const double u = dot(away, p) * inverse;
    if (u < 0.0 || u > 1.0) return 0.0;
    const Real3 q = cross(away, triangle.edge1);
    const double v = dot(ray.to, q) * inverse;
    if (v < 0.0 || u + v > 1.0) return 0.0;
    return dot(triangle.edge2, q) * inverse;
  }

 private:
  /// Large instead of infinite, so that products with zero are zero.
  TESSERA_KERNEL static double inverseOf(double x) { return x == 0.0 ? 1e300 : 1.0 / x; }

  TESSERA_KERNEL static bool meets(const TreeBox& box, Real3 from, Real3 inverse, double within) {
    double in = 0.0;
    double out = within;
    for (int axis = 0; axis < kAxes; ++axis) {
      const double a = (box.low[axis] - from[axis]) * inverse[axis];
      const double b = (box.high[axis] - from[axis]) * inverse[axis];
      in = (a < b ? a : b) > in ? (a < b ? a : b) : in;
      out = (a < b ? b : a) < out ? (a < b ? b : a) : out;
    }
    return in <= out;
  }

  /// Takes time as `load` says, and gives a positive number.
  TESSERA_KERNEL double spentWork() const {
    double x = 1.0;
    for (std::int32_t n = 0; n < load; ++n) x = x * 1.0000001 + 1e-9;
    return x;
  }
};

}  // namespace tessera::jobs
