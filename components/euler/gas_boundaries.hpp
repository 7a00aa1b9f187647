#pragma once

#include <span>
#include <vector>

#include "core/deck/expression.hpp"
#include "core/deck/parameters.hpp"
#include "grid/boundary_condition.hpp"
#include "grid/geometry.hpp"

namespace tessera {

/// Declares density, velocity.x, velocity.y, velocity.z and pressure below `prefix` ("initial."), expressions
/// of `variables`.
void declareGasState(ParameterTable& table, const std::string& prefix,
                     const std::vector<std::string>& variables);

/// The conserved numbers, in the order of the components, of a state that `declareGasState` declared.
std::vector<Expression> readGasState(const ParameterValues& values, const std::string& prefix, double gamma);

/// Declares the conditions of all sides, `boundary.x_low.type` ..., and of parts of sides,
/// `[[euler.boundary_part]]`: "outflow", "reflect", or "inflow" with a state of the gas.
void declareGasBoundaries(ParameterTable& table);

/// Reads them, for each component of the conserved variable. `inflow`: of each passive scalar, what a unit of
/// mass that enters has of it. Throws DeckError with all that contradict the domain.
std::vector<BoundaryConditions> readGasBoundaries(const ParameterValues& values, const Geometry& geometry,
                                                  double gamma, std::span<const Expression> inflow);

}  // namespace tessera
