#pragma once

#include <array>
#include <optional>

#include "components/lowmach/flow_boundaries.hpp"
#include "components/lowmach/flow_labels.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// What a deck says of something carried.
struct CarriedSettings {
  bool isThere = false;
  Expression initial;
  std::optional<Expression> source;  ///< per volume and time
  std::optional<Expression> exact;
};

/// What a deck says of the flow; labels of `params` are not set yet.
struct FlowSettings {
  FlowParams params;
  FlowBoundaries boundaries;
  bool threeStages = false;
  double heatCapacity = 1.0;
  std::array<Expression, kAxes> initial;
  std::array<Expression, kAxes> force;
  std::array<std::optional<Expression>, kAxes> exact;
  std::optional<Expression> exactPressure;
  std::optional<Expression> exactDensity;
  std::array<CarriedSettings, kFlowScalars> carried;
};

/// "velocity.x", of axis 0.
std::string keyOfAxis(const char* key, int axis);

/// Declares all keys of `[lowmach]`.
void declareFlowSettings(ParameterTable& table);
/// Reads them. Throws DeckError with all that contradicts the domain or itself.
FlowSettings readFlowSettings(const ParameterValues& values, const Geometry& geometry);

}  // namespace tessera
