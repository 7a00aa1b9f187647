#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/deck.hpp"
#include "core/deck/schema.hpp"
#include "grid/geometry.hpp"
#include "grid/hierarchy.hpp"
#include "grid/prolongation.hpp"
#include "grid/refined_levels.hpp"
#include "tools/simulation/analysis/analysis_settings.hpp"
#include "tools/simulation/deck/amr_table.hpp"
#include "tools/simulation/deck/balance_table.hpp"
#include "tools/simulation/deck/device_table.hpp"
#include "tools/simulation/deck/solver_table.hpp"
#include "tools/simulation/deck/unit_table.hpp"

namespace tessera {

/// The deck's [time], and the times that a step has to land on.
struct TimeSettings {
  std::optional<double> end;
  std::optional<std::int64_t> maxSteps;
  double cfl = 0.9;  ///< the step is this part of the largest stable one
  DeckLocation cflWhere{};
  std::optional<double> dt;  ///< a fixed step in place of the stable one
  std::optional<double> dtMax;
  std::optional<double> dtGrowth;   ///< largest ratio of a step to the one before
  std::optional<double> landEvery;  ///< [output] every
  std::int64_t retries = 0;         ///< how often a step that is refused is taken again, half as long
};

/// The deck's [output].
struct OutputSettings {
  std::optional<double> every;
  std::optional<std::int64_t> everySteps;
  std::optional<std::vector<std::string>> fields;  ///< not given: all variables that live from step to step
  DeckLocation fieldsWhere;                        ///< their place in the deck
  bool doublePrecision = true;
};

/// The deck's [checkpoint].
struct CheckpointSettings {
  std::int64_t everySteps = 0;  ///< 0: not by steps
  double everySeconds = 0.0;    ///< of wall time; 0: not by time
  int keep = 2;
  bool atEnd = true;
  bool stopOnFailure = false;
};

/// Everything that the deck says to the time loop; what it says to components is theirs.
struct RunSettings {
  std::string title;
  std::vector<std::string> components;
  Geometry geometry;
  Division division;
  /// Above level 0; where the mesh follows the solution as many as it may have, with boxes where
  /// [[grid.level]] gives some.
  std::vector<RefinedLevel> levels;
  std::optional<RegridSettings> regrid;      ///< of [amr], where the mesh follows the solution
  std::optional<Prolongation> prolongation;  ///< of [amr]; not given: as each component wants it
  bool refluxes = true;                      ///< of [amr]
  bool subcycles = false;                    ///< of [amr], where there are finer levels
  DeckLocation subcycleWhere;                ///< its place in the deck
  TimeSettings time;
  OutputSettings output;
  CheckpointSettings checkpoint;
  std::int64_t historyEverySteps = 1;  ///< 0: no history
  std::vector<std::string> watched;    ///< columns of the history for the screen
  DeckLocation watchedWhere;           ///< their place in the deck
  AnalysisSettings analysis;
  DeviceSettings devices;
  SolverSettings solver;
  UnitNames units;
  BalanceSettings balance;
};

/// The settings of a deck that has passed `check` with `schema`. Throws DeckError otherwise.
RunSettings settingsOf(const Deck& deck, const Schema& schema);

}  // namespace tessera
