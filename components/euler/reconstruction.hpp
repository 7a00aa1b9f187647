#pragma once

#include "components/euler/ideal_gas.hpp"
#include "components/stencils/slopes.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Minmod of theta a, theta b and (a + b)/2: no slope at all for theta = 0, "minmod" for 1, "mc" for 2, and
/// what lies between (B. van Leer, J. Comput. Phys. 32, 101, 1979).
struct ThetaSlope {
  double theta = 2.0;

  TESSERA_KERNEL double operator()(double a, double b) const {
    const double mean = 0.5 * (a + b);
    const double rising = smaller(theta * smaller(a, b), mean);
    const double falling = larger(theta * larger(a, b), mean);
    return larger(0.0, rising) + smaller(0.0, falling);
  }
};

/// The slope of a state of `components/stencils/slopes.hpp`.
template <class Slope>
struct FixedSlope {
  TESSERA_KERNEL double operator()(double a, double b) const { return Slope::of(a, b); }
};

TESSERA_KERNEL inline Primitive operator-(const Primitive& a, const Primitive& b) {
  Primitive d;
  for (int n = 0; n < kGasNumbers; ++n) d.v[n] = a.v[n] - b.v[n];
  return d;
}

/// Each number by itself.
template <class Slope>
struct PrimitiveSlopes {
  Slope slope;

  TESSERA_KERNEL Primitive operator()(const IdealGas& /*gas*/, const Primitive& /*w*/, const Primitive& a,
                                      const Primitive& b) const {
    Primitive s;
    for (int n = 0; n < kGasNumbers; ++n) s.v[n] = slope(a.v[n], b.v[n]);
    return s;
  }
};

/// Sound to either side, and what the flow carries, each by itself: eigenvectors of the equations in
/// primitive numbers at the cell's own state (J. M. Stone et al., Astrophys. J. Suppl. 178, 137, 2008,
/// appendix A).
template <class Slope>
struct CharacteristicSlopes {
  Slope slope;

  TESSERA_KERNEL Primitive operator()(const IdealGas& gas, const Primitive& w, const Primitive& a,
                                      const Primitive& b) const {
    const double c = gas.soundSpeed(w);
    const Primitive strengthsA = strengths(w, c, a);
    const Primitive strengthsB = strengths(w, c, b);
    Primitive s;
    for (int n = 0; n < kGasNumbers; ++n) s.v[n] = slope(strengthsA.v[n], strengthsB.v[n]);
    const double both = s.v[1] + s.v[4];
    return {{both + s.v[0], (c / w.rho()) * (s.v[4] - s.v[1]), s.v[2], s.v[3], (c * c) * both}};
  }

 private:
  /// What the flow carries in [0], [2] and [3], sound to the lower side in [1], to the upper one in [4].
  TESSERA_KERNEL static Primitive strengths(const Primitive& w, double c, const Primitive& d) {
    const double squared = 1.0 / (c * c);
    const double ofVelocity = (0.5 * (w.rho() / c)) * d.v[1];
    const double ofPressure = (0.5 * squared) * d.v[4];
    return {{d.v[0] - squared * d.v[4], ofPressure - ofVelocity, d.v[2], d.v[3], ofPressure + ofVelocity}};
  }
};

/// The states at a face between the cells 1 and 2 of four in a row.
struct FaceStates {
  Primitive low;
  Primitive high;
};

/// Straight lines in each cell. A state that would have no density or no pressure is that of its cell.
template <class Slopes>
struct LinearCells {
  IdealGas gas;
  Slopes slopes;

  TESSERA_KERNEL FaceStates operator()(const Primitive& w0, const Primitive& w1, const Primitive& w2,
                                       const Primitive& w3) const {
    const Primitive across = w2 - w1;
    const Primitive s1 = slopes(gas, w1, w1 - w0, across);
    const Primitive s2 = slopes(gas, w2, across, w3 - w2);
    return {beside(w1, s1, 0.5), beside(w2, s2, -0.5)};
  }

 private:
  TESSERA_KERNEL static Primitive beside(const Primitive& w, const Primitive& slope, double part) {
    Primitive face;
    for (int n = 0; n < kGasNumbers; ++n) face.v[n] = w.v[n] + part * slope.v[n];
    const bool exists = face.rho() > 0.0 && face.p() > 0.0;
    for (int n = 0; n < kGasNumbers; ++n) face.v[n] = exists ? face.v[n] : w.v[n];
    return face;
  }
};

}  // namespace tessera
