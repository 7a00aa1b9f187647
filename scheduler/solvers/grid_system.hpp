#pragma once

#include <array>
#include <vector>

#include "scheduler/solvers/cell_numbers.hpp"
#include "scheduler/solvers/grid_boxes.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

/// Whether a face has the same number in the rows of both of its cells.
enum class MatrixKind { Symmetric, General };

/// The matrix of a level on this rank, in the form of StencilFields. Conditions on the sides of the domain
/// are in it: what conducts to a value given on a side is that side's face.
///
/// Of a face the smaller of its two numbers conducts, and what one has beyond that is carried to its row.
struct GridMatrix {
  CellNumbers sink;
  std::array<CellNumbers, kAxes> faces;  ///< in the row of the cell above each
  std::array<CellNumbers, kAxes> below;  ///< in that of the cell below; of a symmetric matrix without numbers
  CellNumbers inverseDiagonal;

  explicit GridMatrix(const GridBoxes& grid, MatrixKind kind = MatrixKind::Symmetric);
  MatrixKind kind() const { return kind_; }
  StencilFields fields(std::size_t box);
  /// Of a symmetric matrix.
  SymmetricFields symmetricFields(std::size_t box);
  /// Calls `visit` with the one of both that fits.
  template <class Visit>
  void withFields(std::size_t box, const Visit& visit) {
    if (kind_ == MatrixKind::Symmetric) return visit(symmetricFields(box));
    visit(fields(box));
  }
  /// Numbers of the faces along an axis in the row of the cell above them, or below.
  CellNumbers& ofFaces(std::size_t axis, bool inRowBelow) {
    return inRowBelow && kind_ == MatrixKind::General ? below[axis] : faces[axis];
  }
  /// All but the inverse of the diagonal; both are of one kind.
  void takeOver(const GridMatrix& other);
  /// Calls `visit` with the sinks and the numbers of faces.
  template <class Visit>
  void forEachNumbers(const Visit& visit) {
    visit(sink);
    for (CellNumbers& numbers : faces) visit(numbers);
    if (kind_ == MatrixKind::Symmetric) return;
    for (CellNumbers& numbers : below) visit(numbers);
  }
  /// To be called when the others, layers included, are there; afterwards they stay as they are until
  /// `takeOver`. Loops then read numbers that are the same in all rows from one row.
  void invert(const GridBoxes& grid);

 private:
  /// Along which axes the numbers of a box are the same, for all that its loops read.
  struct Repeats {
    bool alongJ = false;
    bool alongK = false;
    Index first{};  ///< the lowest index of the box
  };
  ReadOnlyField<double> view(const CellNumbers& numbers, std::size_t box, std::size_t which) const;
  /// Of one box, in the order of `forEachNumbers`.
  using RepeatsOfBox = std::array<Repeats, 1 + 2 * kAxes>;
  void findRepeatsOnDevice(const GridBoxes& grid);
  /// Calls `visit(numbers, own box number, region that loops read, repeats)`.
  template <class Visit>
  void forEachRepeat(const GridBoxes& grid, const Visit& visit) {
    for (std::size_t n = 0; n < grid.own.size(); ++n) {
      std::size_t which = 0;
      forEachNumbers([&](const CellNumbers& numbers) {
        // Sinks are read in cells, numbers of faces also above the last of them.
        Box region = grid.boxes[grid.own[n]];
        const int axis = static_cast<int>(which + kAxes - 1) % kAxes;
        if (which > 0 && grid.active[static_cast<std::size_t>(axis)]) ++region.hi[axis];
        visit(numbers, n, region, repeats_[n][which++]);
      });
    }
  }

  MatrixKind kind_;
  std::vector<RepeatsOfBox> repeats_;  ///< by own box; empty before `invert`
};

/// Whether all numbers that say what the matrix is have the same bits on this rank, layers included.
bool sameMatrix(const GridMatrix& a, const GridMatrix& b);

/// A linear system of one level on this rank.
struct GridSystem {
  const GridBoxes* grid = nullptr;
  GridMatrix matrix;
  CellNumbers rightHandSide;
  CellNumbers solution;  ///< before: where to begin

  explicit GridSystem(const GridBoxes& boxes, MatrixKind kind = MatrixKind::Symmetric);
};

}  // namespace tessera
