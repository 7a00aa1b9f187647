#pragma once

namespace tessera::ensemble {

/// The regularised incomplete beta function I_x(a, b) for 0 <= x <= 1 and positive a and b, by its continued
/// fraction.
double incompleteBeta(double x, double a, double b);

/// The mean acceptance of swaps between two temperatures, the higher `ratio` times the lower, for harmonic
/// systems with so many degrees of freedom, whose potential energies are Gamma-distributed: 2
/// I_{1/(1+ratio)}(f/2, f/2).
double exactAcceptance(double ratio, int freedoms);

}  // namespace tessera::ensemble
