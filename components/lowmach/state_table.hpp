#pragma once

#include <filesystem>
#include <vector>

#include "components/lowmach/state_relation.hpp"

namespace tessera {

/// Which numbers of the state there are besides the density.
struct StateColumns {
  bool temperature = false;
  bool heatCapacity = false;
  bool absorption = false;
};

/// A state relation from a file, as `TableState` reads it.
struct StateTable {
  StateTableShape shape;
  std::vector<double> numbers;
  StateColumns has;
};

/// Reads a table with the columns `mixture_fraction` and `density` and, where there are such,
/// `enthalpy`, `temperature`, `heat_capacity` and `absorption`. Lines ascend in the mixture fraction; with
/// `enthalpy` they are blocks, each of one enthalpy and all of the same mixture fractions, that ascend in it.
/// Throws InputError naming file and line.
StateTable readStateTable(const std::filesystem::path& file);

}  // namespace tessera
