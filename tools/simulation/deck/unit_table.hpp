#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deck/schema.hpp"

namespace tessera {

/// What the deck calls the units of its numbers, for people: nothing is converted.
///
///   [units]
///   length = "m"
///   time = "s"
///
///   units.in("length^2/time")   // "m^2/s"
struct UnitNames {
  std::vector<std::pair<std::string, std::string>> names;  ///< of words that variables use: {"length", "m"}

  /// The unit of a variable with the deck's names in place of the words; words without a name stay.
  std::string in(std::string_view unit) const;
  /// Of a unit that may be a product, joined with " * ", each word once: "mass/length^3 * length^3" is "kg".
  std::string inProduct(std::string_view unit) const;
};

/// The table [units].
ParameterTable unitTable();

/// What [units] says. The values have passed `check`.
UnitNames unitNamesOf(const ParameterValues& units);

}  // namespace tessera
