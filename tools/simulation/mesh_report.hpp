#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/simulation/simulation.hpp"

namespace tessera {

/// The mesh of the moment in texts, level by level from the coarsest one, for lines of the log: "4096, 512".
struct MeshLines {
  std::string cells;
  std::string patches;
  std::string imbalance;  ///< largest share of a rank over the mean one, by cells
};
MeshLines meshLinesOf(const Simulation& simulation);

/// What regrids and balancing have come to, and the mesh of the moment, by their names in result.json;
/// nothing on one level that stays as it is. The same on every rank.
std::vector<std::pair<std::string, double>> meshStatistics(const Simulation& simulation);

}  // namespace tessera
