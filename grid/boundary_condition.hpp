#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/expression.hpp"

namespace tessera {

class DeckDiagnostics;
class ParameterTable;
class ParameterValues;
struct Geometry;

/// What a variable does beyond one side of the domain. Values of Dirichlet and Neumann hold at the domain's
/// face.
enum class BoundaryKind {
  Dirichlet,  ///< the value is given: the halo mirrors the interior about it (second order)
  Neumann,    ///< the outward normal derivative is given
  Outflow,    ///< the last interior value continues (zero order extrapolation)
  Given,      ///< each index of the halo takes the value at its own place: inflow of a hyperbolic system
  Reflect,    ///< the halo is the mirror image of the interior, of the same or of the opposite sign
};
inline constexpr int kBoundaryKinds = 5;

/// The six sides in the order x_low, x_high, y_low, y_high, z_low, z_high.
inline constexpr int kSides = 6;
constexpr int sideOf(int axis, bool high) { return 2 * axis + (high ? 1 : 0); }
/// "x_low" ... "z_high", as in decks and messages.
const char* sideName(int side);

/// The condition of one side, or of a part of it; `value` may depend on position and time and is not used by
/// Outflow and Reflect.
struct SideCondition {
  BoundaryKind kind = BoundaryKind::Outflow;
  Expression value;
  int sign = 1;  ///< of Reflect: 1 or -1
  /// Of a part: where it holds, by the place on the domain's face and the time; not 0 means yes.
  std::optional<Expression> within{};
};

/// Parts of one side at most.
inline constexpr std::size_t kMostParts = 7;

/// The conditions of one variable, or of one component of it; a side without one may not be read beyond (the
/// graph compiler says so).
struct BoundaryConditions {
  std::array<std::optional<SideCondition>, kSides> sides;
  /// Of parts of a side, asked in their order before that of the whole side; at most kMostParts a side.
  std::array<std::vector<SideCondition>, kSides> parts;

  /// Number of conditions of a side, and those in the order in which they are asked: the first that holds at
  /// an index is carried out there.
  int count(int side) const;
  const SideCondition& condition(int side, int number) const;

  /// The same condition on all six sides.
  static BoundaryConditions everywhere(BoundaryKind kind, double value = 0.0);
};

struct HaloRegion;  // datawarehouse/moves/coded_condition.hpp

/// A condition that a component codes in a kernel, for all components of a variable; `codedCondition` makes
/// one.
struct CodedCondition {
  /// What a device runs: DeviceLaunch has the rest.
  struct Call {
    void (*run)(const void* arguments, void* cudaStream) = nullptr;
    std::vector<std::byte> arguments;
  };
  std::function<void(const HaloRegion&)> onHost;
  std::function<Call(const HaloRegion&)> onDevice;
};

/// What is known of one component of a variable.
struct ComponentInfo {
  std::string name;  ///< in decks, messages and field files
  std::string unit;
  int axis = -1;  ///< of the component of a vector: along which axis; a wall reverses the one normal to it
};

/// Which conditions the table of a component's variable takes.
enum class BoundaryKeys {
  OfVariable,    ///< one condition for the variable
  OfComponents,  ///< parts may name one component of it
};

// For components whose conditions are of another form, for example of a state of several numbers.

/// Why a side of the domain has no boundary, with a fix for a key of the deck; empty where it has one.
std::string reasonWithoutBoundary(const Geometry& geometry, int side);
/// Declares `[[NAME.boundary_part]]` with its key `side`; the caller adds `within` and what holds there.
ParameterTable& declareBoundaryParts(ParameterTable& table);
/// The tables of the deck.
const std::vector<ParameterValues>& boundaryParts(const ParameterValues& values);
/// The side of a part; empty, with an error, where that side has no boundary or the part never holds.
std::optional<int> sideOfPart(const ParameterValues& part, const Geometry& geometry,
                              DeckDiagnostics& findings);
/// Adds a part of a side. False, with an error, where the side has too many.
bool addPart(BoundaryConditions& conditions, int side, SideCondition condition, const ParameterValues& part,
             DeckDiagnostics& findings);

/// Declares the conditions of a variable in a component's table: `boundary.x_low.type`,
/// `boundary.x_low.value` ... for all sides, and `[[boundary.part]]` for parts of sides and, `OfComponents`,
/// for one component. `byDefault` holds, with value 0, where the deck is silent; a value beside a type that
/// takes none is an error.
void declareBoundaries(ParameterTable& table, BoundaryKind byDefault,
                       BoundaryKeys keys = BoundaryKeys::OfVariable);

/// Reads what `declareBoundaries` declared. Sides of a periodic axis get no condition, and those of an
/// axis with one cell are never looked at; a deck that gives one there contradicts itself, and so does a part
/// that never holds: DeckError with the place of every such key.
BoundaryConditions readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                  BoundaryKind byDefault);
/// The same for each component of a variable. Walls that reflect reverse what is normal to them.
std::vector<BoundaryConditions> readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                               BoundaryKind byDefault,
                                               std::span<const ComponentInfo> components);

}  // namespace tessera
