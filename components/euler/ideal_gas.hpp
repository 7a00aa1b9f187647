#pragma once

#include <cmath>

#include "core/kernel.hpp"

namespace tessera {

// States of an ideal gas beside a face, as seen from it: the velocity normal to the face comes first, then
// the two along it. Every index of these arrays is known to the compiler, so they live in registers.

inline constexpr int kGasNumbers = 5;
inline constexpr int kDensity = 0;
inline constexpr int kNormal = 1;  ///< velocity or momentum across the face
inline constexpr int kLast = 4;    ///< pressure, or total energy

/// rho, rho u, rho v, rho w, E: what a volume holds of mass, momentum and total energy (of motion and heat).
struct Conserved {
  double v[kGasNumbers];
};

/// rho, u, v, w, p.
struct Primitive {
  double v[kGasNumbers];
  TESSERA_KERNEL double rho() const { return v[kDensity]; }
  TESSERA_KERNEL double u() const { return v[kNormal]; }
  TESSERA_KERNEL double p() const { return v[kLast]; }
};

/// p = (gamma - 1) (E - rho u^2 / 2). The squares along the face are added first, so that the same state has
/// the same bits at faces of all axes.
struct IdealGas {
  double gamma = 1.4;

  TESSERA_KERNEL static double squared(double normal, double a, double b) {
    return normal * normal + (a * a + b * b);
  }
  TESSERA_KERNEL Primitive primitive(const Conserved& c) const {
    const double inverse = 1.0 / c.v[0];
    const double u = c.v[1] * inverse;
    const double v = c.v[2] * inverse;
    const double w = c.v[3] * inverse;
    return {{c.v[0], u, v, w, (gamma - 1.0) * (c.v[4] - 0.5 * (c.v[0] * squared(u, v, w)))}};
  }
  TESSERA_KERNEL Conserved conserved(const Primitive& w) const {
    const double rho = w.rho();
    return {{rho, rho * w.v[1], rho * w.v[2], rho * w.v[3], energy(w)}};
  }
  TESSERA_KERNEL double energy(const Primitive& w) const {
    return w.p() / (gamma - 1.0) + 0.5 * (w.rho() * squared(w.v[1], w.v[2], w.v[3]));
  }
  /// Whether density and pressure are above 0; not so for what is no number.
  TESSERA_KERNEL bool exists(const Conserved& c) const { return c.v[0] > 0.0 && primitive(c).p() > 0.0; }
  TESSERA_KERNEL double soundSpeed(const Primitive& w) const { return std::sqrt(gamma * w.p() / w.rho()); }
  /// What passes the face.
  TESSERA_KERNEL Conserved flux(const Primitive& w) const {
    const double mass = w.rho() * w.u();
    return {{mass, mass * w.u() + w.p(), mass * w.v[2], mass * w.v[3], (energy(w) + w.p()) * w.u()}};
  }
};

}  // namespace tessera
