#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "components/lowmach/flow_boundaries.hpp"
#include "components/lowmach/flow_labels.hpp"
#include "components/lowmach/state_settings.hpp"
#include "components/sources/added_sources.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// A source per volume and time: an expression of the deck, and variables of other components.
struct SourceSettings {
  std::optional<Expression> expression;
  std::vector<AddedSource> added;

  bool isThere() const { return expression || !added.empty(); }
};

/// What a stage of a method takes of Old, and its time, as parts.
struct StageParts {
  double ofOld;
  double at;
};

/// What a deck says of something carried.
struct CarriedSettings {
  bool isThere = false;
  std::string name;  ///< of its variable: "mixture_fraction", "temperature" or "enthalpy"
  Expression initial;
  SourceSettings source;
  std::optional<Expression> exact;
};

/// What a deck says of the flow; labels of `params` are not set yet.
struct FlowSettings {
  FlowParams params;
  StateSettings state;
  FlowBoundaries boundaries;
  CarriedHeat heat = CarriedHeat::None;
  SourceSettings mass;              ///< mass that arises
  std::optional<Expression> fluid;  ///< 1 where there is fluid, where some cells are solid
  std::vector<StageParts> stages;
  std::array<Expression, kAxes> initial;
  std::array<Expression, kAxes> force;
  std::array<std::optional<Expression>, kAxes> exact;
  std::optional<Expression> exactPressure;
  std::optional<Expression> exactDensity;
  std::array<CarriedSettings, kFlowScalars> carried;
  std::vector<Expression> composed;  ///< expressions that are made of those of the deck
};

/// Declares all keys of `[lowmach]`.
void declareFlowSettings(ParameterTable& table);
/// Reads them. Throws DeckError with all that contradicts the domain or itself.
FlowSettings readFlowSettings(const ParameterValues& values, const Geometry& geometry, LabelTable& labels);

}  // namespace tessera
