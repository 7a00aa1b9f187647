#pragma once

#include <type_traits>
#include <utility>

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"
#include "core/memory/element_type.hpp"

namespace tessera {

/// What a ray needs to know of a cell, side by side in memory, since a ray is somewhere else at each step:
/// the absorption coefficient and the intensity that matter of its temperature sends in each direction; where
/// the cell is solid, -(1 + emissivity) and the intensity of a black body of its temperature. The third of
/// three numbers is the scattering coefficient, 0 in solid cells.
template <class Real, int numbers = 2>
using MediumCell = Vec<Real, numbers>;

/// Of a MediumCell: how many numbers it has, of which type, and whether the matter may scatter.
template <class Medium>
struct MediumTraits;
template <class Number, int numbers>
struct MediumTraits<Vec<Number, numbers>> {
  using Real = Number;
  static constexpr int kNumbers = numbers;
  static constexpr bool kScatters = numbers == 3;
};
inline constexpr double kPiOfRays = 0x1.921fb54442d18p1;

/// The MediumCell that a view gives.
template <class View>
using MediumOf = std::remove_cvref_t<decltype(std::declval<const View&>()(Index{}))>;

/// The intensity of a black body of a temperature is that times T^4; the same bits for walls and for the
/// medium.
constexpr double intensityOfFourthPower(double stefanBoltzmann) {
  return stefanBoltzmann * (1.0 / kPiOfRays);
}
TESSERA_KERNEL constexpr double fourthPower(double temperature) {
  return (temperature * temperature) * (temperature * temperature);
}

TESSERA_KERNEL constexpr double solidCode(double emissivity) { return -1.0 - emissivity; }
TESSERA_KERNEL constexpr bool isSolidCode(double absorption) { return absorption < 0.0; }
TESSERA_KERNEL constexpr double emissivityOfCode(double code) { return -1.0 - code; }

}  // namespace tessera
