#pragma once

#include <array>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/box_copies.hpp"
#include "scheduler/solvers/composite/cells_beyond.hpp"
#include "scheduler/solvers/composite/coarse_fine_loops.hpp"
#include "scheduler/solvers/grid_system.hpp"

namespace tessera {

/// Joins a level of the mesh and the next coarser one. For each box of the finer level there is its shadow:
/// the same region in coarse cells, on the same rank. Values go between coarse boxes and shadows by messages,
/// and between shadows and fine boxes cell by cell. Boxes of the finer level begin and end where coarse cells
/// do. Making one is collective, and so are its functions.
class CoarseFine {
 public:
  CoarseFine(const GridBoxes& coarse, const GridBoxes& fine, Extent ratio, Transport& transport);

  /// Coarse cells under the finer level get the mean of the cells over them.
  void averageDown(CellNumbers& fine, CellNumbers& coarse);
  /// Brings coarse values under and around the finer level to the shadows, for the three functions below.
  void takeCoarse(CellNumbers& coarse) { up_.copy(coarse, shadow_); }
  /// Brings to the shadows which cells have a value: those where a number is 1, under finer ones the mean.
  void takeCells(CellNumbers& coarse) { up_.copy(coarse, cells_); }
  /// The layer beyond the finer level, as `interpolateSide` has it; `cells` is 1 where a fine cell has a
  /// value.
  void interpolateLayer(CellNumbers& fine, CellNumbers& cells);
  /// Likewise from coarse values as they are.
  void repeatInLayer(CellNumbers& fine);
  /// Adds to each fine cell what its coarse cell has.
  void addParents(CellNumbers& fine);

  /// Adds to the rows of coarse cells beside the finer level `factor` times what flows through the fine faces
  /// between them, for what `fine` has on both sides of these.
  void addFluxes(GridMatrix& matrix, CellNumbers& fine, double factor, CellNumbers& rows);

  /// A face of a finer cell, where it is beside an own cell of the coarser level.
  struct FineFace {
    std::size_t box;  ///< own number of the coarse box
    Index cell;       ///< of the coarse cell
    int axis;
    Index in;      ///< from there into the finer level
    Index beyond;  ///< the place of a finer cell in the coarse one, beside the face
    double conducts;
    CellsBeyond cells;  ///< of the value there
  };
  /// All of them, in one order on every run. `coarse` is what it was made for; `cells` as above.
  std::vector<FineFace> fineFaces(const GridBoxes& coarse, GridMatrix& fine, CellNumbers& cells);
  /// Of the value at `x`, beyond a side of an own box of the finer level. After `takeCells`; `cells` as
  /// above.
  CellsBeyond cellsBeyond(std::size_t box, Index x, int axis, Index in, CellNumbers& cells);

  /// Nothing flows any more through the coarse faces where the levels meet.
  void closeFaces(GridMatrix& coarse) const;
  /// What conducts through the faces where the finer level ends, times `factor`.
  void scaleFaces(GridMatrix& fine, double factor) const;
  /// Of coarse cells under the finer level.
  void setUnder(double number, CellNumbers& coarse);

  const Refinement& refinement() const { return refinement_; }

 private:
  static constexpr int kSides = 2 * kAxes;
  /// Coarse faces of an own coarse box where the levels meet.
  struct ClosedFaces {
    std::size_t box;
    int axis;
    bool high;  ///< of the finer box
    Box faces;
  };
  using SideRegions = std::array<BoxRegions, kSides>;
  SideRegions findSides() const;
  void noteSides(const SideRegions& regions, const GridBoxes& coarse);

  const GridBoxes& fine_;
  Refinement refinement_;
  GridBoxes shadows_;
  CellNumbers shadow_;  ///< coarse values, or means
  CellNumbers cells_;   ///< which coarse cells have a value
  CellNumbers flows_;   ///< in the layers of shadows
  std::vector<CoarseFineSide> sides_;
  std::vector<ClosedFaces> closed_;
  BoxCopies up_;
  BoxCopies down_;
  std::vector<BoxCopies> out_;  ///< by side
};

}  // namespace tessera
