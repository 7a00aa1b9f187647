#pragma once

#include "core/transport/transport.hpp"
#include "scheduler/solvers/box_copies.hpp"
#include "scheduler/solvers/cell_numbers.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {

/// Which cells of a layer are brought.
enum class LayerPart {
  Faces,      ///< those beside a face of the box
  All,        ///< edges and corners as well
  WithSides,  ///< as All; and of numbers of faces, which the domain has one more of than cells
};

/// Fills the layers around the boxes of a level from the boxes that have these cells, on this and on other
/// ranks. Making one is collective, and so is `fill`; one thread a rank.
class LayerExchange {
 public:
  LayerExchange(const GridBoxes& grid, LayerPart part, Transport& transport);

  void fill(CellNumbers& numbers) { copies_.copy(numbers, numbers); }

 private:
  BoxCopies copies_;
};

}  // namespace tessera
