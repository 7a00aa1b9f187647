#pragma once

#include <array>
#include <vector>

#include "components/lowmach/flow_labels.hpp"
#include "core/deck/parameters.hpp"
#include "grid/boundary_condition.hpp"
#include "grid/geometry.hpp"

namespace tessera {

/// What stands for heat.
enum class CarriedHeat { None, Temperature, Enthalpy };

/// What holds beyond the sides of the domain, for each variable of the flow.
struct FlowBoundaries {
  std::array<FlowSide, kSides> kinds{};
  std::array<BoundaryConditions, kAxes> velocity;
  BoundaryConditions entering;  ///< of what passes a side along its axis, where the deck says so
  BoundaryConditions pressure;
  std::array<BoundaryConditions, kFlowScalars> carried;
  BoundaryConditions continued;  ///< of what goes on as it is within, wherever that is asked for

  bool hasGiven() const;
  /// Nothing passes any side.
  bool isClosed() const;
};

/// Declares the conditions of all sides, `boundary.x_low.type` ..., and of parts of sides,
/// `[[lowmach.boundary_part]]`: "wall", "slip", "inlet", "outlet".
void declareFlowBoundaries(ParameterTable& table);

/// Reads them, with the heat that `heat` says fluid carries. Throws DeckError with all that contradict the
/// domain or one another.
FlowBoundaries readFlowBoundaries(const ParameterValues& values, const Geometry& geometry, CarriedHeat heat);

}  // namespace tessera
