#pragma once

#include "components/lowmach/face_fields.hpp"
#include "components/stencils/slopes.hpp"
#include "core/kernel.hpp"

namespace tessera {

// What a number q is half-way between x and x + e, through which the mass m flows.

struct CentralBetween {
  template <class Field>
  TESSERA_KERNEL static double at(const Field& q, Index x, Index e, double /*m*/) {
    return 0.5 * (q(x) + q(x + e));
  }
};

template <class Slope>
struct UpwindBetween {
  template <class Field>
  TESSERA_KERNEL static double at(const Field& q, Index x, Index e, double m) {
    const double middle = q(x + e) - q(x);
    const double fromBelow = q(x) + 0.5 * Slope::of(q(x) - q(x - e), middle);
    const double fromAbove = q(x + e) - 0.5 * Slope::of(middle, q(x + e + e) - q(x + e));
    return m > 0.0 ? fromBelow : fromAbove;
  }
};

/// A fluid without eddies and without solid cells.
template <class Field>
struct PlainFluid {
  NumberOrField<Field> viscosity;

  TESSERA_KERNEL double viscosityAt(Index y) const { return viscosity(y); }
  /// At the edge between the faces y - across and y, of cells along `e`.
  TESSERA_KERNEL double viscosityOfEdge(Index y, Index e, Index across) const {
    return 0.5 * (viscosity.atFace(y, e) + viscosity.atFace(y - across, e));
  }
  TESSERA_KERNEL double nearness(int /*n*/, Index /*y*/, Index /*e*/) const { return 1.0; }
};

/// A fluid with the one, the other or both. What does not slip on solid cells is 0 at half the distance of
/// faces.
template <class Field>
struct GeneralFluid {
  NumberOrField<Field> viscosity;
  NumberOrField<Field> eddies;
  NumberOrField<Field> open[kAxes];

  TESSERA_KERNEL double viscosityAt(Index y) const { return viscosity(y) + eddies(y); }
  /// Eddies are only where fluid is.
  TESSERA_KERNEL double viscosityOfEdge(Index y, Index e, Index across) const {
    const double near = open[0](y);
    const double far = open[0](y - across);
    const double half = near * far > 0.0 ? 0.5 : 1.0;
    return 0.5 * (viscosity.atFace(y, e) + viscosity.atFace(y - across, e)) +
           half * (near * eddies.atFace(y, e) + far * eddies.atFace(y - across, e));
  }
  /// 2 where one of the faces y - e and y is closed: a difference between them is that to the wall.
  TESSERA_KERNEL double nearness(int n, Index y, Index e) const { return 2.0 - open[n](y) * open[n](y - e); }
};

/// What changes the velocity across one axis, at its faces: numbers of that axis stand at position 0, those
/// of the others behind. Of an axis of one cell `e` leads nowhere and `inverse` is 0.
template <class Field, class Between, class Fluid>
struct MomentumRate {
  Field u[kAxes];
  Field mass[kAxes];  ///< what flows through faces, per area and time
  Fluid fluid;
  Index e[kAxes];
  double inverse[kAxes];  ///< 1/h

  /// div(m u) less u div(m), per volume: 0 where the velocity is the same around.
  TESSERA_KERNEL double convection(Index x) const {
    const double along = inverse[0] * (carriedAlong(x, x) - carriedAlong(x - e[0], x));
    return along + (acrossOf(1, x) + acrossOf(2, x));
  }
  /// The force of friction per volume.
  TESSERA_KERNEL double friction(Index x) const {
    const double along = inverse[0] * (normalStress(x) - normalStress(x - e[0]));
    return along + (shearOf(1, x) + shearOf(2, x));
  }

 private:
  /// Through the middle of the cell y.
  TESSERA_KERNEL double carriedAlong(Index y, Index x) const {
    const double m = 0.5 * (mass[0](y) + mass[0](y + e[0]));
    return m * (Between::at(u[0], y, e[0], m) - u[0](x));
  }
  /// Through the edge below y along axis b.
  TESSERA_KERNEL double carriedAcross(int b, Index y, Index x) const {
    const double m = 0.5 * (mass[b](y - e[0]) + mass[b](y));
    return m * (Between::at(u[0], y - e[b], e[b], m) - u[0](x));
  }
  TESSERA_KERNEL double acrossOf(int b, Index x) const {
    return inverse[b] * (carriedAcross(b, x + e[b], x) - carriedAcross(b, x, x));
  }
  TESSERA_KERNEL double gradient(int b, Index y) const { return inverse[b] * (u[b](y + e[b]) - u[b](y)); }
  TESSERA_KERNEL double normalStress(Index y) const {
    const double along = gradient(0, y);
    const double divergence = along + (gradient(1, y) + gradient(2, y));
    return 2.0 * fluid.viscosityAt(y) * (along - divergence / 3.0);
  }
  TESSERA_KERNEL double shearStress(int b, Index y) const {
    const double mu = fluid.viscosityOfEdge(y, e[0], e[b]);
    const double along = inverse[b] * fluid.nearness(0, y, e[b]) * (u[0](y) - u[0](y - e[b]));
    return mu * (along + inverse[0] * fluid.nearness(b, y, e[0]) * (u[b](y) - u[b](y - e[0])));
  }
  TESSERA_KERNEL double shearOf(int b, Index x) const {
    return inverse[b] * (shearStress(b, x + e[b]) - shearStress(b, x));
  }
};

}  // namespace tessera
