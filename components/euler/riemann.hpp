#pragma once

#include <cmath>

#include "components/euler/ideal_gas.hpp"
#include "components/stencils/slopes.hpp"
#include "core/kernel.hpp"

namespace tessera {

// Fluxes through a face between the states l, on its lower side, and r, on its upper one. A mirrored face has
// the mirrored bits. Both pressures and densities have to be above 0.

/// The fastest signals that leave a face to its lower and its upper side.
struct SignalSpeeds {
  double low;
  double high;
};

/// Sound, or a shock where linear waves have a higher pressure between the states (E. F. Toro, Riemann
/// Solvers and Numerical Methods for Fluid Dynamics, 3rd ed., Springer 2009, eq. 10.59 to 10.61); at least as
/// fast as the sound of either side.
TESSERA_KERNEL inline SignalSpeeds signalSpeeds(const IdealGas& gas, const Primitive& l, const Primitive& r) {
  const double cl = gas.soundSpeed(l);
  const double cr = gas.soundSpeed(r);
  const double impedance = (0.5 * (l.rho() + r.rho())) * (0.5 * (cl + cr));
  const double between = 0.5 * (l.p() + r.p()) - (0.5 * (r.u() - l.u())) * impedance;
  const double factor = (gas.gamma + 1.0) / (2.0 * gas.gamma);
  const double shockLow = cl * std::sqrt(1.0 + factor * larger(0.0, between / l.p() - 1.0));
  const double shockHigh = cr * std::sqrt(1.0 + factor * larger(0.0, between / r.p() - 1.0));
  return {smaller(l.u() - shockLow, r.u() - cr), larger(r.u() + shockHigh, l.u() + cl)};
}

/// HLLC: two states between the outer waves, with the contact between them. A contact that does not move
/// stays exactly as it is (E. F. Toro, M. Spruce, W. Speares, Shock Waves 4, 25, 1994; Toro 2009, eq. 10.37
/// and 10.44, with the mean of the two pressures between the waves).
TESSERA_KERNEL inline Conserved hllcFlux(const IdealGas& gas, const Primitive& l, const Primitive& r) {
  const SignalSpeeds s = signalSpeeds(gas, l, r);
  const double massLow = l.rho() * (s.low - l.u());
  const double massHigh = r.rho() * (s.high - r.u());
  const double contact = ((r.p() - l.p()) + (massLow * l.u() - massHigh * r.u())) / (massLow - massHigh);
  const double between =
      0.5 * ((l.p() + massLow * (contact - l.u())) + (r.p() + massHigh * (contact - r.u())));

  // The state upwind of the contact is what flows: as it is where the outer wave has passed the face too.
  // Compared as one number, since a choice between two comparisons is not vectorised.
  const bool fromLow = contact >= 0.0;
  const double outer = fromLow ? s.low : s.high;
  const bool hasPassed = (fromLow ? s.low : -s.high) >= 0.0;
  Primitive w;
  for (int n = 0; n < kGasNumbers; ++n) w.v[n] = fromLow ? l.v[n] : r.v[n];
  const Conserved u = gas.conserved(w);
  const Conserved f = gas.flux(w);
  const double part = hasPassed ? 0.0 : outer / (outer - contact);
  const double ofFlux = 1.0 - part;
  const double ofState = contact * part;
  const double pressure = between * part;
  Conserved flux;
  for (int n = 0; n < kGasNumbers; ++n) flux.v[n] = ofFlux * f.v[n] + ofState * u.v[n];
  flux.v[kNormal] += pressure;
  flux.v[kLast] += pressure * contact;
  return flux;
}

/// HLL: one state between the outer waves. Contacts smear, and no carbuncle grows at strong shocks (A.
/// Harten, P. D. Lax, B. van Leer, SIAM Rev. 25, 35, 1983).
TESSERA_KERNEL inline Conserved hllFlux(const IdealGas& gas, const Primitive& l, const Primitive& r) {
  const SignalSpeeds s = signalSpeeds(gas, l, r);
  const double low = smaller(s.low, 0.0);
  const double high = larger(s.high, 0.0);
  const double inverse = 1.0 / (high - low);
  const Conserved fl = gas.flux(l);
  const Conserved fr = gas.flux(r);
  const Conserved cl = gas.conserved(l);
  const Conserved cr = gas.conserved(r);
  Conserved flux;
  for (int n = 0; n < kGasNumbers; ++n) {
    flux.v[n] = ((high * fl.v[n] - low * fr.v[n]) + (high * low) * (cr.v[n] - cl.v[n])) * inverse;
  }
  return flux;
}

/// Whether a strong shock stands at the face: the gas runs together, and one pressure is more than `jump`
/// times the other.
TESSERA_KERNEL inline bool isStrongShock(const Primitive& l, const Primitive& r, double jump) {
  return larger(l.p(), r.p()) > jump * smaller(l.p(), r.p()) && l.u() > r.u();
}

/// HLLC, and HLL at strong shocks.
struct RiemannSolver {
  IdealGas gas;
  double jump = 0.0;  ///< of pressures, beyond which a shock is strong; 0: HLL everywhere

  TESSERA_KERNEL Conserved operator()(const Primitive& l, const Primitive& r) const {
    const Conserved sharp = hllcFlux(gas, l, r);
    const Conserved smooth = hllFlux(gas, l, r);
    const bool isStrong = jump == 0.0 || isStrongShock(l, r, jump);
    Conserved flux;
    for (int n = 0; n < kGasNumbers; ++n) flux.v[n] = isStrong ? smooth.v[n] : sharp.v[n];
    return flux;
  }
};

}  // namespace tessera
