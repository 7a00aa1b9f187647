#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/cell_numbers.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {

/// For each box of a grid, by position: regions that it gives, or that it wants. They may lie in the layer
/// around the box, not beyond it.
using BoxRegions = std::vector<std::vector<Box>>;

/// Brings numbers from the boxes of one grid to those of another, or of the same, over the same domain:
/// what one wants and another gives, images across periods included. No index is given twice. Making one is
/// collective, and so is `copy`; one thread a rank. The grids outlive the making only. Both are on one device
/// or on the host.
class BoxCopies {
 public:
  BoxCopies(const GridBoxes& fromGrid, const BoxRegions& given, const GridBoxes& toGrid,
            const BoxRegions& wanted, Transport& transport);

  /// `to` gets the numbers; what it wants and nobody gives it keeps.
  void copy(CellNumbers& from, CellNumbers& to) { bring<false>(from, to); }
  /// `to` gets them added to what it has.
  void add(CellNumbers& from, CellNumbers& to) { bring<true>(from, to); }

 private:
  struct Piece {
    std::size_t to = 0;    ///< position of the box in its grid
    std::size_t from = 0;  ///< likewise
    Box region;            ///< in cells of `to`
    Index step;            ///< what the same cells of `from` lack to that
  };
  /// Pieces that come from, or go to, one rank.
  struct Part {
    std::vector<Piece> pieces;
    std::int32_t message = 0;
    std::size_t numbers = 0;
    SolverDevice::Numbers onDevice{};  ///< where kernels pack and unpack; nowhere on the host
    SolverDevice::Numbers pinned{};    ///< and where it is on the host, on the way
  };
  struct Ends;
  void addPieces(const Ends& ends, Rank rank);
  void prepare(const GridBoxes& fromGrid, const GridBoxes& toGrid, Rank rank, int ranks);
  template <bool kAdds>
  void bring(CellNumbers& from, CellNumbers& to);
  template <bool kAdds>
  void bringOnDevice(CellNumbers& from, CellNumbers& to);

  Transport& transport_;
  SolverDevice* const device_;
  std::vector<std::size_t> ownFrom_;  ///< by position in the grid: number of the own box
  std::vector<std::size_t> ownTo_;
  std::vector<Piece> pieces_;  ///< that have an own box at one end at least
  std::vector<Piece> here_;
  std::vector<Part> sends_;
  std::vector<Part> receives_;
  std::unique_ptr<PreparedMessages> messages_;
};

}  // namespace tessera
