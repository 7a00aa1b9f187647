#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/parameters.hpp"
#include "grid/regrid/regrid.hpp"

namespace tessera {

/// What of a cell asks for smaller ones.
enum class FlagKind {
  Gradient,          ///< the length of the gradient of a variable, by central differences
  Jump,              ///< the largest difference to a neighbour
  SecondDifference,  ///< the second difference as a part of the first ones around it, from 0 to 1
  Expression,        ///< a function of place and time
};

/// One `[[amr.criterion]]`: a cell is flagged where the number is above the threshold.
struct FlagCriterion {
  FlagKind kind = FlagKind::Gradient;
  std::string variable;  ///< of all kinds but Expression
  Expression expression;
  double threshold = 0.0;
  std::optional<std::int64_t> level;  ///< of the cells that are looked at; not given: all but the finest one
  DeckLocation where;
  DeckLocation levelWhere;
};

/// What [amr] says of a mesh that follows the solution.
struct RegridSettings {
  std::int64_t levels = 2;    ///< level 0 included
  std::int64_t interval = 4;  ///< steps from one regrid to the next
  std::optional<std::int64_t> buffer;
  std::int64_t hysteresis = 0;
  std::int64_t ratio = 2;
  std::int64_t tile = 8;
  std::optional<Extent> patchSize;
  RegridderKind kind = RegridderKind::Tiled;
  double efficiency = 0.7;
  std::optional<std::int64_t> maxCells;
  std::vector<FlagCriterion> criteria;
  DeckLocation levelsWhere;  ///< the places of keys in the deck
  DeckLocation bufferWhere;
  DeckLocation tileWhere;
};

/// The table [amr].
ParameterTable amrTable();

/// Of a table that has passed `check`; nothing where levels stay where they are.
std::optional<RegridSettings> regridSettingsOf(const ParameterValues& amr);

}  // namespace tessera
