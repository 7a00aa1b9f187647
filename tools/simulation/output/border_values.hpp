#pragma once

#include <functional>
#include <vector>

#include "core/transport/transport.hpp"
#include "grid/hierarchy.hpp"
#include "grid/rank_map.hpp"

namespace tessera {

/// The values of one node or face variable with all borders of each patch. A patch owns its lower borders
/// only; what a file for viewing needs on its upper ones belongs to a neighbour, perhaps of another rank, or
/// is the periodic image of the lower end of the domain.
struct BorderValues {
  const Hierarchy& hierarchy;
  const RankMap& owners;
  Transport& transport;
  Centering centering;
  int components;

  /// For each own patch, ascending by id, the values of valueBox(cells, centering), x fastest. `owned(patch)`
  /// gives the values of `ownedBy` in the same order. All ranks call it, between steps.
  std::vector<std::vector<double>> gather(
      const std::function<std::vector<double>(const Patch&)>& owned) const;
};

}  // namespace tessera
