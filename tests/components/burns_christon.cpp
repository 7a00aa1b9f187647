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

/// Of the straight way from a to b. Between planes through the middle the absorption is a cubic along it, for
/// which two points are exact.
double opticalDepth(const Real3& a, const Real3& b) {
  std::array<double, 5> cuts{0.0, 1.0, 1.0, 1.0, 1.0};
  for (int d = 0; d < kAxes; ++d) {
    const double cut = (0.5 - a[d]) / (b[d] - a[d]);
    if (cut > 0.0 && cut < 1.0) cuts[static_cast<std::size_t>(d) + 1] = cut;
  }
  std::sort(cuts.begin(), cuts.end());
  const double length = std::hypot(b.x - a.x, b.y - a.y, b.z - a.z);
  double depth = 0.0;
  for (std::size_t n = 1; n < cuts.size(); ++n) {
    const double half = 0.5 * (cuts[n] - cuts[n - 1]);
    const double aside = half / std::numbers::sqrt3;
    depth += half * length *
             (burnsChristonAbsorption(between(a, b, cuts[n - 1] + half - aside)) +
              burnsChristonAbsorption(between(a, b, cuts[n - 1] + half + aside)));
  }
  return depth;
}

/// exp(-tau) over the directions to a part of a wall that lies `distance` away across `axis`: solid angle is
/// d(alpha) d(w) with u = distance tan(alpha) and w = v / (length of the way).
double overPart(const Real3& at, int axis, double wall, const std::array<double, 2>& u,
                const std::array<double, 2>& v) {
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
      return std::exp(-opticalDepth(at, end));
    });
  });
}

/// From the lower wall to the upper one, seen from `at` and cut where the integrand has a kink.
std::array<double, 4> cutsAlong(double at) {
  std::array<double, 4> cuts{-at, 1.0 - at, 0.0, 0.5 - at};
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace

double burnsChristonAbsorption(const Real3& at) {
  const auto hat = [](double x) { return 1.0 - 2.0 * std::abs(x - 0.5); };
  return 0.9 * hat(at.x) * hat(at.y) * hat(at.z) + 0.1;
}

double burnsChristonDivQ(const Real3& at) {
  double sum = 0.0;
  for (int axis = 0; axis < kAxes; ++axis) {
    const std::array<double, 4> u = cutsAlong(at[(axis + 1) % 3]);
    const std::array<double, 4> v = cutsAlong(at[(axis + 2) % 3]);
    for (const double wall : {0.0, 1.0}) {
      for (std::size_t m = 1; m < u.size(); ++m) {
        for (std::size_t n = 1; n < v.size(); ++n) {
          if (u[m] > u[m - 1] && v[n] > v[n - 1])
            sum += overPart(at, axis, wall, {u[m - 1], u[m]}, {v[n - 1], v[n]});
        }
      }
    }
  }
  return burnsChristonAbsorption(at) / std::numbers::pi * sum;
}

}  // namespace tessera::test
