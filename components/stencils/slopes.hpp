#pragma once

#include <cmath>
#include <limits>

#include "core/kernel.hpp"

namespace tessera {

/// How the slope of a cell is limited; None is the plain central difference, Flat no slope at all (upwind).
enum class Limiter { Flat, None, Minmod, VanLeer, Mc };

// Each gives the difference across a cell, s, from its differences a to the lower and b to the upper
// neighbour. All are odd under mirroring, bit by bit: s(-b, -a) = -s(a, b). Sources:
// docs/components/advection.md.

struct FlatSlope {
  static constexpr bool kIsFlat = true;
  TESSERA_KERNEL static double of(double, double) { return 0.0; }
};

struct CentralSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) { return 0.5 * (a + b); }
};

TESSERA_KERNEL inline double smaller(double a, double b) { return a < b ? a : b; }
TESSERA_KERNEL inline double larger(double a, double b) { return a > b ? a : b; }

struct MinmodSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) {
    return larger(0.0, smaller(a, b)) + smaller(0.0, larger(a, b));
  }
};

/// Here, since a function of the library's is none for devices.
inline constexpr double kLeastNormal = std::numeric_limits<double>::min();

struct VanLeerSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) {
    const double sum = a + b;
    const double size = larger(std::fabs(sum), kLeastNormal);
    return std::copysign(2.0 * larger(0.0, a * b) / size, sum);
  }
};

struct McSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) {
    const double mean = 0.5 * (a + b);
    const double rising = smaller(2.0 * smaller(a, b), mean);
    const double falling = larger(2.0 * larger(a, b), mean);
    return larger(0.0, rising) + smaller(0.0, falling);
  }
};

/// Calls `body(slope)` with the slope of the limiter.
template <class Body>
void withSlope(Limiter limiter, Body&& body) {
  switch (limiter) {
    case Limiter::Flat:
      return body(FlatSlope{});
    case Limiter::None:
      return body(CentralSlope{});
    case Limiter::Minmod:
      return body(MinmodSlope{});
    case Limiter::VanLeer:
      return body(VanLeerSlope{});
    case Limiter::Mc:
      return body(McSlope{});
  }
}

}  // namespace tessera
