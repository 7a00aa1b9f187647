#pragma once

#include <string>
#include <vector>

#include "core/index.hpp"
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

TESSERA_KERNEL inline double magnitude(double v) { return v < 0.0 ? -v : v; }
TESSERA_KERNEL inline double smaller(double a, double b) { return a < b ? a : b; }

struct MinmodSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) {
    const double least = smaller(magnitude(a), magnitude(b));
    return a * b > 0.0 ? (a < 0.0 ? -least : least) : 0.0;
  }
};

struct VanLeerSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) { return a * b > 0.0 ? 2.0 * (a * b) / (a + b) : 0.0; }
};

struct McSlope {
  static constexpr bool kIsFlat = false;
  TESSERA_KERNEL static double of(double a, double b) {
    const double least = smaller(2.0 * smaller(magnitude(a), magnitude(b)), 0.5 * magnitude(a + b));
    return a * b > 0.0 ? (a < 0.0 ? -least : least) : 0.0;
  }
};

/// Calls `body(slope)` with the slope that `limiter` names.
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
