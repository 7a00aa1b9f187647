#pragma once

#include <array>

#include "core/geometry/box.hpp"
#include "core/memory/element_type.hpp"

namespace tessera {

/// The physical box of a run and what its sides are: the part of the deck's [grid] that every level shares.
struct Geometry {
  Real3 lower;                 ///< position of the lower corner
  Real3 upper{1.0, 1.0, 1.0};  ///< position of the upper corner
  Extent cells{1, 1, 1};       ///< cells of level 0
  std::array<bool, kAxes> periodic{false, false, false};
  friend bool operator==(const Geometry&, const Geometry&) = default;

  /// An axis of one cell is not resolved: no halo, no derivative, no boundary condition.
  constexpr bool active(int axis) const { return cells[axis] > 1; }
  constexpr int activeAxes() const { return (active(0) ? 1 : 0) + (active(1) ? 1 : 0) + (active(2) ? 1 : 0); }
  /// True where the halo comes from the other end of the domain. An unresolved x axis counts as periodic,
  /// because rows keep unit stride; an unresolved y or z axis has stride 0 instead and no halo at all.
  constexpr bool wraps(int axis) const {
    return active(axis) ? periodic[static_cast<std::size_t>(axis)] : axis == 0;
  }
  /// True where the axis carries a halo in memory.
  constexpr bool hasHalo(int axis) const { return active(axis) || axis == 0; }
};

/// Whether indices of this centering sit on the cell borders along `axis` (nodes on all, faces on their own).
constexpr bool onBorders(Centering centering, int axis) {
  switch (centering) {
    case Centering::Cell:
      return false;
    case Centering::Node:
      return true;
    case Centering::FaceX:
      return axis == 0;
    case Centering::FaceY:
      return axis == 1;
    case Centering::FaceZ:
      return axis == 2;
  }
  return false;
}

}  // namespace tessera
