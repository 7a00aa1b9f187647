#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/deck/expression.hpp"
#include "core/geometry/box.hpp"

namespace tessera {

class ParameterTable;
class ParameterValues;
struct Geometry;

/// What a variable does beyond one side of the domain. Values hold at the domain's face.
enum class BoundaryKind {
  Dirichlet,  ///< the value is given: the halo mirrors the interior about it (second order)
  Neumann,    ///< the outward normal derivative is given
  Outflow,    ///< the last interior value continues (zero order extrapolation)
};

/// The six sides in the order x_low, x_high, y_low, y_high, z_low, z_high.
inline constexpr int kSides = 6;
constexpr int sideOf(int axis, bool high) { return 2 * axis + (high ? 1 : 0); }
/// "x_low" ... "z_high", as in decks and messages.
const char* sideName(int side);

/// The condition of one side; `value` may depend on position and time and is not used by Outflow.
struct SideCondition {
  BoundaryKind kind = BoundaryKind::Outflow;
  Expression value;
};

/// The conditions of one variable; a side without one may not be read beyond (the graph compiler says so).
struct BoundaryConditions {
  std::array<std::optional<SideCondition>, kSides> sides;

  /// The same condition on all six sides.
  static BoundaryConditions everywhere(BoundaryKind kind, double value = 0.0);
};

/// Declares `boundary.x_low.type`, `boundary.x_low.value` ... for all sides of a component's table.
/// `byDefault` holds, with value 0, where the deck is silent; a value beside the type "outflow" is an error.
void declareBoundaries(ParameterTable& table, BoundaryKind byDefault);
/// Reads what `declareBoundaries` declared. Sides of a periodic axis get no condition, and those of an
/// axis with one cell are never looked at; a deck that gives one there contradicts itself: DeckError with the
/// place of every such key.
BoundaryConditions readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                  BoundaryKind byDefault);

}  // namespace tessera
