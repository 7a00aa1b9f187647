#pragma once

#include "core/transport/transport.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/solver_system.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// Cuts holes into a system on one level. Rows of holes are without entries, and a face between a hole and a
/// cell of the system becomes a side: nothing goes through it, or what conducts to the value in the hole is a
/// sink of the cell. Collective: all ranks make one, and call `cut`, at once.
class Holes {
 public:
  Holes(const GridBoxes& boxes, Transport& transport);

  /// 1 in cells of the system and 0 in holes: the caller's to fill, but for the layers.
  CellNumbers& open() { return open_; }
  /// After the assembly of the system, before the layers of the matrix are filled. The level's weights become
  /// `open`. Changes the layers of the solution.
  void cut(SystemHoles::Faces faces, SystemLevel& level);

 private:
  void holdOnSide(int side, GridSystem& system);

  const GridBoxes& boxes_;
  CellNumbers open_;
  LayerExchange layers_;
};

}  // namespace tessera
