#include "tests/components/burns_christon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tessera::test {
namespace {

/// Points and weights of Gauss's rule with eight points on [-1, 1].
constexpr std::array<double, 4> kPoints{0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                        0.9602898564975363};
constexpr std::array<double, 4> kWeights{0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                         0.1012285362903763};

template <class Function>
double gaussOfHalf(double low, double high, Function f) {
  const double middle = 0.5 * (low + high);
  const double half = 0.5 * (high - low);
  double sum = 0.0;
  for (std::size_t n = 0; n < kPoints.size(); ++n)
    sum += kWeights[n] * (f(middle - half * kPoints[n]) + f(middle + half * kPoints[n]));
  return sum * half;
}

template <class Function>
double gauss(double low, double high, Function f) {
  const double middle = 0.5 * (low + high);
  return gaussOfHalf(low, middle, f) + gaussOfHalf(middle, high, f);
}

Real3 between(const Real3& a, const Real3& b, double part) {
  return {a.x + part * (b.x - a.x), a.y + part * (b.y - a.y), a.z + part * (b.z - a.z)};
}

/// Parts of the straight way from a to b at which it meets planes through the middle: between them the
/// absorption is a cubic, for which two points are exact.
std::array<double, 5> cutsOfWay(const Real3& a, const Real3& b) {
  std::array<double, 5> cuts{0.0, 1.0, 1.0, 1.0, 1.0};
  for (int d = 0; d < kAxes; ++d) {
    const double cut = (0.5 - a[d]) / (b[d] - a[d]);
    if (cut > 0.0 && cut < 1.0) cuts[static_cast<std::size_t>(d) + 1] = cut;
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

double lengthOf(const Real3& a, const Real3& b) { return std::hypot(b.x - a.x, b.y - a.y, b.z - a.z); }

/// Of a part of the straight way from a to b without such a plane in it.
double opticalDepth(const Real3& a, const Real3& b, double from, double to) {
  const double half = 0.5 * (to - from);
  const double aside = half / std::numbers::sqrt3;
  return half * lengthOf(a, b) *
         (burnsChristonAbsorption(between(a, b, from + half - aside)) +
          burnsChristonAbsorption(between(a, b, from + half + aside)));
}

/// What comes through the whole way.
double transmitted(const Real3& a, const Real3& b) {
  const std::array<double, 5> cuts = cutsOfWay(a, b);
  double depth = 0.0;
  for (std::size_t n = 1; n < cuts.size(); ++n) depth += opticalDepth(a, b, cuts[n - 1], cuts[n]);
  return std::exp(-depth);
}

/// What arrives at a of what matter on the way to b sends, where the intensity of a black body is the fourth
/// power of the absorption.
double arrivesFromHot(const Real3& a, const Real3& b) {
  const std::array<double, 5> cuts = cutsOfWay(a, b);
  const double length = lengthOf(a, b);
  double depth = 0.0;
  double sum = 0.0;
  for (std::size_t n = 1; n < cuts.size(); ++n) {
    if (cuts[n] == cuts[n - 1]) continue;
    sum += gaussOfHalf(cuts[n - 1], cuts[n], [&](double part) {
      const double absorption = burnsChristonAbsorption(between(a, b, part));
      return length * std::pow(absorption, 5) * std::exp(-depth - opticalDepth(a, b, cuts[n - 1], part));
    });
    depth += opticalDepth(a, b, cuts[n - 1], cuts[n]);
  }
  return sum;
}

/// `f(at, end)` over the directions to a part of a wall that lies `distance` away across `axis`: solid angle
/// is d(alpha) d(w) with u = distance tan(alpha) and w = v / (length of the way).
template <class Function>
double overPart(const Real3& at, int axis, double wall, const std::array<double, 2>& u,
                const std::array<double, 2>& v, Function f) {
  const int first = (axis + 1) % 3;
  const int second = (axis + 2) % 3;
  const double distance = std::abs(wall - at[axis]);
  return gauss(std::atan(u[0] / distance), std::atan(u[1] / distance), [&](double alpha) {
    const double across = distance * std::tan(alpha);
    const double flat = std::hypot(distance, across);
    const auto sineTo = [&](double to) { return to / std::hypot(flat, to); };
    return gauss(sineTo(v[0]), sineTo(v[1]), [&](double w) {
      Real3 end;
      end[axis] = wall;
      end[first] = at[first] + across;
      end[second] = at[second] + flat * w / std::sqrt(1.0 - w * w);
      return f(at, end);
    });
  });
}

/// From the lower wall to the upper one, seen from `at` and cut where the integrand has a kink.
std::array<double, 4> cutsAlong(double at) {
  std::array<double, 4> cuts{-at, 1.0 - at, 0.0, 0.5 - at};
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// `f(at, end)` over all directions, where `end` is on a wall.
template <class Function>
double overDirections(const Real3& at, Function f) {
  double sum = 0.0;
  for (int axis = 0; axis < kAxes; ++axis) {
    const std::array<double, 4> u = cutsAlong(at[(axis + 1) % 3]);
    const std::array<double, 4> v = cutsAlong(at[(axis + 2) % 3]);
    for (const double wall : {0.0, 1.0}) {
      for (std::size_t m = 1; m < u.size(); ++m) {
        for (std::size_t n = 1; n < v.size(); ++n) {
          if (u[m] > u[m - 1] && v[n] > v[n - 1])
            sum += overPart(at, axis, wall, {u[m - 1], u[m]}, {v[n - 1], v[n]}, f);
        }
      }
    }
  }
  return sum;
}

}  // namespace

double burnsChristonAbsorption(const Real3& at) {
  const auto hat = [](double x) { return 1.0 - 2.0 * std::abs(x - 0.5); };
  return 0.9 * hat(at.x) * hat(at.y) * hat(at.z) + 0.1;
}

double burnsChristonDivQ(const Real3& at) {
  return burnsChristonAbsorption(at) / std::numbers::pi * overDirections(at, transmitted);
}

double hotCubeDivQ(const Real3& at) {
  const double absorption = burnsChristonAbsorption(at);
  return absorption * (4.0 * std::pow(absorption, 4) - overDirections(at, arrivesFromHot) / std::numbers::pi);
}

}  // namespace tessera::test
