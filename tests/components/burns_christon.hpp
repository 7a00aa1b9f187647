#pragma once

#include "core/geometry/index.hpp"

namespace tessera::test {

/// The absorption coefficient of the benchmark of S. P. Burns and M. A. Christon in the unit cube.
double burnsChristonAbsorption(const Real3& at);

/// The divergence of the flux of radiation there, to 1e-5: with matter of one temperature and cold black
/// walls it is absorption / pi times the integral of exp(-tau) over all directions, where tau is that of the
/// way to the wall.
double burnsChristonDivQ(const Real3& at);

/// The same where the emissive power of the matter is the fourth power of the absorption coefficient
/// ("benchmark 3": a temperature of 1000 times the coefficient, for an emissive power of 1 at 1000), to 1e-5.
double hotCubeDivQ(const Real3& at);

}  // namespace tessera::test
