#pragma once

#include "scheduler/jobs/job.hpp"
#include "tools/jobs/vector3.hpp"

namespace tessera::jobs {

/// A mass at a place. G = 1. So aligned that a GPU reads two numbers at a time: lanes of a warp read from
/// different places, and each read of each lane takes a turn.
struct alignas(16) MassPoint {
  Real3 at;
  double mass = 0.0;
};

/// What each walk through an octree reads of a cell.
struct alignas(16) CellHead {
  MassPoint mean;  ///< all its mass, at its centre
  double side = 0.0;
  std::int32_t next = 0;   ///< the cell after all that lie in this one
  std::int32_t count = 0;  ///< of a leaf: its points; 0: no leaf
};

/// Sum of m (3 x_i x_j - x^2 delta_ij): xx, yy, zz, xy, xz, yz.
struct alignas(16) Quadrupole {
  double of[6] = {};
};

/// A cell of an octree, in the order of a walk from the root: its first child comes behind it.
struct TreeCell : CellHead {
  Quadrupole quadrupole;
  Real3 middle;
  std::int32_t first = 0;  ///< of a leaf: its points, in the tree's order
};

/// Adds a point to the mass of a cell and to the sum of its places, which then is to be divided by the mass.
TESSERA_KERNEL inline void addMass(TreeCell& cell, const MassPoint& point) {
  cell.mean.mass += point.mass;
  cell.mean.at = cell.mean.at + point.mass * point.at;
}

/// Adds a point to the quadrupole of a cell whose centre of mass is known.
TESSERA_KERNEL inline void addQuadrupole(TreeCell& cell, const MassPoint& point) {
  const Real3 x = point.at - cell.mean.at;
  const double square = dot(x, x);
  for (int axis = 0; axis < kAxes; ++axis)
    cell.quadrupole.of[axis] += point.mass * (3.0 * x[axis] * x[axis] - square);
  cell.quadrupole.of[3] += point.mass * 3.0 * x.x * x.y;
  cell.quadrupole.of[4] += point.mass * 3.0 * x.x * x.z;
  cell.quadrupole.of[5] += point.mass * 3.0 * x.y * x.z;
}

/// Acceleration and potential at a point.
struct FieldValue {
  Real3 acceleration;
  double potential = 0.0;
  double interactions = 0.0;  ///< points and cells that were added up
};

/// Barnes and Hut's walk for one point: a cell is taken as a whole where side / distance <= theta and the
/// point does not lie in it, and opened else. Lanes side by side wait for the one that is at the first cell,
/// so they read a cell together.
struct TreeBody {
  static constexpr int kPushes = 0;
  static constexpr int kCellsOfCall = 32;
  struct Unit {
    std::int64_t point = 0;
    std::int32_t cell = 0;
    std::int32_t interactions = 0;
    FieldValue sum;
  };

  Array<const MassPoint> points;
  Array<const TreeCell> cells;
  Array<FieldValue> field;
  std::int32_t cellCount = 0;
  double theta = 0.5;
  double softening2 = 0.0;
  bool hasQuadrupole = true;

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.point = at.i;
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const Real3 here = points(unit.point).at;
    for (int n = 0; n < kCellsOfCall && unit.cell < cellCount; ++n) {
      if (unit.cell == leastOfLanes(unit.cell)) visit(unit, here);
    }
    if (unit.cell < cellCount) return UnitEnd::GoOn;
    unit.sum.interactions = unit.interactions;
    field(unit.point) = unit.sum;
    return UnitEnd::Done;
  }

  /// Adds what one point does at `here`.
  TESSERA_KERNEL void addPoint(FieldValue& sum, const MassPoint& point, Real3 here) const {
    const Real3 towards = point.at - here;
    addMonopole(sum, point.mass, towards, 1.0 / sqrt(dot(towards, towards) + softening2));
  }

 private:
  /// Adds a cell or the points of a leaf, or opens the cell.
  TESSERA_KERNEL void visit(Unit& unit, Real3 here) const {
    const TreeCell& cell = cells(unit.cell);
    const CellHead head = cell;
    const Real3 towards = head.mean.at - here;
    const double distance2 = dot(towards, towards);
    if (head.side * head.side <= theta * theta * distance2 && !contains(cell, here)) {
      const double inverse = 1.0 / sqrt(distance2 + softening2);
      addMonopole(unit.sum, head.mean.mass, towards, inverse);
      if (hasQuadrupole) addQuadrupole(unit.sum, cell.quadrupole, towards, inverse);
      ++unit.interactions;
      unit.cell = head.next;
    } else if (head.count > 0) {
      for (std::int32_t p = cell.first; p < cell.first + head.count; ++p) {
        if (p == unit.point) continue;
        const MassPoint point = points(p);
        addPoint(unit.sum, point, here);
        ++unit.interactions;
      }
      unit.cell = head.next;
    } else {
      ++unit.cell;
    }
  }

  /// Only asked of cells far enough away: the point in a cell is at most sqrt(3) sides from its centre of
  /// mass.
  TESSERA_KERNEL bool contains(const TreeCell& cell, Real3 x) const {
    if (3.0 * theta * theta < 0.99) return false;
    for (int axis = 0; axis < kAxes; ++axis) {
      const double off = x[axis] - cell.middle[axis];
      if (off > 0.5 * cell.side || off < -0.5 * cell.side) return false;
    }
    return true;
  }

  TESSERA_KERNEL static void addMonopole(FieldValue& sum, double mass, Real3 towards, double inverse) {
    const double strength = mass * inverse;
    sum.acceleration = sum.acceleration + (strength * inverse * inverse) * towards;
    sum.potential -= strength;
  }

  TESSERA_KERNEL static void addQuadrupole(FieldValue& sum, const Quadrupole& quadrupole, Real3 towards,
                                           double inverse) {
    const Quadrupole copy = quadrupole;
    const double* q = copy.of;
    const Real3 y{-towards.x, -towards.y, -towards.z};
    const double inverse2 = inverse * inverse;
    const Real3 qy{q[0] * y.x + q[3] * y.y + q[4] * y.z, q[3] * y.x + q[1] * y.y + q[5] * y.z,
                   q[4] * y.x + q[5] * y.y + q[2] * y.z};
    const double inverse5 = inverse2 * inverse2 * inverse;
    const double yqy = dot(y, qy);
    sum.acceleration = sum.acceleration + inverse5 * qy - (2.5 * yqy * inverse5 * inverse2) * y;
    sum.potential -= 0.5 * yqy * inverse5;
  }
};

const JobKernels& treeKernels();

}  // namespace tessera::jobs
