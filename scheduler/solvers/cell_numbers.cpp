#include "scheduler/solvers/cell_numbers.hpp"

namespace tessera {

CellNumbers::CellNumbers(const GridBoxes& grid) {
  std::size_t size = 0;
  for (const std::size_t n : grid.own) {
    layouts_.emplace_back(grow(grid.boxes[n], grid.layer()), !grid.active[1], !grid.active[2]);
    offsets_.push_back(size);
    size += static_cast<std::size_t>(layouts_.back().elements());
  }
  memory_.assign(size, 0.0);
}

}  // namespace tessera
