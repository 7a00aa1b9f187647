#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
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

  void fill(CellNumbers& numbers);

 private:
  struct Piece {
    std::size_t to = 0;    ///< position of the box in the grid
    std::size_t from = 0;  ///< likewise
    Box region;            ///< in cells of `to`
    Index step;            ///< what the same cells of `from` lack to that
  };
  /// Pieces that come from, or go to, one rank.
  struct Part {
    std::vector<Piece> pieces;
    std::int32_t message = 0;
  };
  void addPieces(const GridBoxes& grid, LayerPart part, Rank rank);
  void prepare(const GridBoxes& grid, Rank rank, int ranks);

  Transport& transport_;
  std::vector<std::size_t> ownOf_;  ///< by position in the grid: number of the own box
  std::vector<Piece> pieces_;       ///< that have an own box at one end at least
  std::vector<Piece> here_;
  std::vector<Part> sends_;
  std::vector<Part> receives_;
  std::unique_ptr<PreparedMessages> messages_;
};

}  // namespace tessera
