#pragma once

#include "scheduler/jobs/job.hpp"
#include "tools/jobs/vector3.hpp"

namespace tessera::jobs {

/// A mass at a place. G = 1.
struct MassPoint {
  Real3 at;
  double mass = 0.0;
};

/// A cell of an octree, in the order of a walk from the root: its first child comes behind it.
struct TreeCell {
  MassPoint mean;             ///< all its mass, at its centre
  double quadrupole[6] = {};  ///< sum of m (3 x_i x_j - x^2 delta_ij): xx, yy, zz, xy, xz, yz
  Real3 middle;
  double side = 0.0;
  std::int32_t next = 0;   ///< the cell after all that lie in this one
  std::int32_t first = 0;  ///< of a leaf: its points, in the tree's order
  std::int32_t count = 0;  ///< 0: no leaf
};

/// Acceleration and potential at a point.
struct FieldValue {
  Real3 acceleration;
  double potential = 0.0;
  double interactions = 0.0;  ///< points and cells that were added up
};

/// Barnes and Hut's walk for one point: a cell is taken as a whole where side / distance <= theta and the
/// point does not lie in it, and opened else.
struct TreeBody {
  static constexpr int kPushes = 0;
  static constexpr int kCellsOfCall = 16;
  struct Unit {
    std::int64_t point = 0;
    std::int32_t cell = 0;
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
      const TreeCell& cell = cells(unit.cell);
      const Real3 away = here - cell.mean.at;
      const double distance2 = dot(away, away);
      if (cell.side * cell.side <= theta * theta * distance2 && !contains(cell, here)) {
        addCell(unit.sum, cell, away, distance2 + softening2);
        unit.cell = cell.next;
      } else if (cell.count > 0) {
        for (std::int64_t p = cell.first; p < cell.first + cell.count; ++p) {
          if (p != unit.point) addPoint(unit.sum, points(p), here);
        }
        unit.cell = cell.next;
      } else {
        ++unit.cell;
      }
    }
    if (unit.cell < cellCount) return UnitEnd::GoOn;
    field(unit.point) = unit.sum;
    return UnitEnd::Done;
  }

  /// Adds what one point does at `here`.
  TESSERA_KERNEL void addPoint(FieldValue& sum, const MassPoint& point, Real3 here) const {
    const Real3 towards = point.at - here;
    const double square = dot(towards, towards) + softening2;
    const double inverse = 1.0 / sqrt(square);
    const double strength = point.mass * inverse;
    sum.acceleration = sum.acceleration + (strength * inverse * inverse) * towards;
    sum.potential -= strength;
    sum.interactions += 1.0;
  }

 private:
  TESSERA_KERNEL static bool contains(const TreeCell& cell, Real3 x) {
    for (int axis = 0; axis < kAxes; ++axis) {
      const double off = x[axis] - cell.middle[axis];
      if (off > 0.5 * cell.side || off < -0.5 * cell.side) return false;
    }
    return true;
  }

  TESSERA_KERNEL void addCell(FieldValue& sum, const TreeCell& cell, Real3 y, double square) const {
    const double inverse = 1.0 / sqrt(square);
    const double inverse2 = inverse * inverse;
    const double strength = cell.mean.mass * inverse;
    sum.acceleration = sum.acceleration - (strength * inverse2) * y;
    sum.potential -= strength;
    sum.interactions += 1.0;
    if (!hasQuadrupole) return;
    const double* q = cell.quadrupole;
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
