#pragma once

#include <cstdint>

#include "core/kernel.hpp"

namespace tessera {

// What follows from the mixture fraction f and from the heat that fluid carries: the volume of a unit of mass
// and its derivatives, and what radiation asks for. The heat is the temperature or the enthalpy, less that of
// the adiabatic mixture.

/// Which of the relations holds.
enum class StateKind { Mixing, Flame, Table };

/// Two streams that mix: v(f, T) = v0 + (v1 - v0) f, times T over a reference where heat counts.
struct MixingState {
  double v0 = 1.0;
  double dv = 0.0;            ///< v1 - v0
  double perTemperature = 0;  ///< 1 over the reference; 0: the volume does not depend on T

  TESSERA_KERNEL double volume(double f, double T) const { return (v0 + dv * f) * heat(T); }
  TESSERA_KERNEL double byMixture(double /*f*/, double T) const { return dv * heat(T); }
  TESSERA_KERNEL double byHeat(double f, double /*T*/) const { return (v0 + dv * f) * perTemperature; }
  TESSERA_KERNEL double temperature(double /*f*/, double T) const { return T; }
  TESSERA_KERNEL double heatCapacity(double /*f*/, double /*T*/) const { return 0.0; }
  TESSERA_KERNEL double absorption(double /*f*/, double /*T*/) const { return 0.0; }

 private:
  TESSERA_KERNEL double heat(double T) const { return perTemperature > 0.0 ? T * perTemperature : 1.0; }
};

/// Fuel (f = 1) and oxidiser (f = 0) that burn as soon as they meet, in one step (S. P. Burke, T. E. W.
/// Schumann, 1928), with one heat capacity: the temperature rises by the heat of the fuel that finds
/// oxidiser.
struct FlameState {
  double v0 = 1.0;  ///< of the oxidiser, and of the fuel less that, at the reference temperature
  double dv = 0.0;
  double perTemperature = 1.0;  ///< 1 over the reference
  double ofOxidiser = 0.0;      ///< temperature
  double ofFuelMore = 0.0;      ///< that of the fuel, less that of the oxidiser
  double rise = 0.0;            ///< heat of a unit of mass of fuel over the heat capacity
  double stoichiometric = 0.5;  ///< mixture fraction at which nothing is left
  double capacity = 1.0;
  double ofProducts = 0.0;  ///< absorption coefficient of the stoichiometric mixture

  /// The fuel that has burnt, of a unit of mass.
  TESSERA_KERNEL double burnt(double f) const {
    const double inside = f < 0.0 ? 0.0 : f > 1.0 ? 1.0 : f;
    return inside < stoichiometric ? inside : stoichiometric * (1.0 - inside) / (1.0 - stoichiometric);
  }
  TESSERA_KERNEL double temperature(double f, double h) const {
    return ofOxidiser + ofFuelMore * f + rise * burnt(f) + h / capacity;
  }
  TESSERA_KERNEL double volume(double f, double h) const {
    return (v0 + dv * f) * (temperature(f, h) * perTemperature);
  }
  TESSERA_KERNEL double byMixture(double f, double h) const {
    const double slope = f < 0.0 || f > 1.0   ? 0.0
                         : f < stoichiometric ? 1.0
                                              : -stoichiometric / (1.0 - stoichiometric);
    return perTemperature * (dv * temperature(f, h) + (v0 + dv * f) * (ofFuelMore + rise * slope));
  }
  TESSERA_KERNEL double byHeat(double f, double /*h*/) const {
    return (v0 + dv * f) * (perTemperature / capacity);
  }
  TESSERA_KERNEL double heatCapacity(double /*f*/, double /*h*/) const { return capacity; }
  TESSERA_KERNEL double absorption(double f, double /*h*/) const {
    return ofProducts * (burnt(f) / stoichiometric);
  }
};

/// How many mixture fractions and enthalpies a table has. Its numbers are those places, and then the volumes,
/// temperatures, heat capacities and absorption coefficients of all pairs, mixture fractions one after the
/// other.
struct StateTableShape {
  std::int64_t mixtures = 0;
  std::int64_t heats = 1;
};

/// A table in kernels: linear between its places, and beyond the ends the value there; NaN where it is asked
/// for NaN. `View` is what `task.table(label)` gives.
template <class View>
class TableState {
 public:
  TableState(const View& numbers, const StateTableShape& shape) : numbers_(numbers), shape_(shape) {}

  TESSERA_KERNEL double volume(double f, double h) const { return value(0, f, h); }
  TESSERA_KERNEL double temperature(double f, double h) const { return value(1, f, h); }
  TESSERA_KERNEL double heatCapacity(double f, double h) const { return value(2, f, h); }
  TESSERA_KERNEL double absorption(double f, double h) const { return value(3, f, h); }
  TESSERA_KERNEL double byMixture(double f, double h) const {
    const Place x = place(0, shape_.mixtures, f);
    if (x.isBeyond) return 0.0;
    const Place y = place(shape_.mixtures, shape_.heats, h);
    return (along(0, 1, x, y) - along(0, 0, x, y)) * x.perStep;
  }
  TESSERA_KERNEL double byHeat(double f, double h) const {
    if (shape_.heats == 1) return 0.0;
    const Place y = place(shape_.mixtures, shape_.heats, h);
    if (y.isBeyond) return 0.0;
    const Place x = place(0, shape_.mixtures, f);
    return (row(0, x, y.below + 1) - row(0, x, y.below)) * y.perStep;
  }

 private:
  /// Between two places of an axis.
  struct Place {
    std::int64_t below = 0;
    double part = 0.0;
    double perStep = 0.0;
    bool isBeyond = false;
  };

  TESSERA_KERNEL Place place(std::int64_t first, std::int64_t count, double x) const {
    Place found;
    if (count == 1) return found;
    std::int64_t above = count - 1;
    while (above - found.below > 1) {
      const std::int64_t middle = (above + found.below) / 2;
      (x < numbers_[first + middle] ? above : found.below) = middle;
    }
    const double from = numbers_[first + found.below];
    found.perStep = 1.0 / (numbers_[first + above] - from);
    found.part = (x - from) * found.perStep;
    found.isBeyond = found.part < 0.0 || found.part > 1.0;
    if (found.isBeyond) found.part = found.part < 0.0 ? 0.0 : 1.0;
    return found;
  }
  TESSERA_KERNEL double at(std::int64_t quantity, std::int64_t i, std::int64_t j) const {
    return numbers_[shape_.mixtures + shape_.heats + (quantity * shape_.heats + j) * shape_.mixtures + i];
  }
  /// Between two mixture fractions, at one enthalpy of the table.
  TESSERA_KERNEL double row(std::int64_t quantity, const Place& x, std::int64_t j) const {
    return (1.0 - x.part) * at(quantity, x.below, j) + x.part * at(quantity, x.below + 1, j);
  }
  /// Between two enthalpies, at the mixture fraction `more` places above that below x.
  TESSERA_KERNEL double along(std::int64_t quantity, std::int64_t more, const Place& x,
                              const Place& y) const {
    const double below = at(quantity, x.below + more, y.below);
    if (shape_.heats == 1) return below;
    return (1.0 - y.part) * below + y.part * at(quantity, x.below + more, y.below + 1);
  }
  TESSERA_KERNEL double value(std::int64_t quantity, double f, double h) const {
    const Place x = place(0, shape_.mixtures, f);
    if (shape_.heats == 1) return row(quantity, x, 0);
    const Place y = place(shape_.mixtures, shape_.heats, h);
    return (1.0 - y.part) * row(quantity, x, y.below) + y.part * row(quantity, x, y.below + 1);
  }

  View numbers_;
  StateTableShape shape_;
};

}  // namespace tessera
