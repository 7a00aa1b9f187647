#pragma once

#include "tools/jobs/cluster/morton.hpp"
#include "tools/jobs/cluster/tree_body.hpp"

namespace tessera::jobs {

/// A point's key, and its place in the list.
struct KeyedPoint {
  std::uint64_t key = 0;
  std::int64_t point = 0;
};

/// What is done for each point, or for each cell, on the way to an octree. Points are sorted by merges of
/// runs; a point then begins the cells in which it is the first and the point before it is not.
enum class TreePass : std::int32_t {
  Keys,     ///< of points
  Merge,    ///< of two sorted runs, for a place of the result
  Gather,   ///< the point of a place
  Count,    ///< the cells that a point begins
  Scan,     ///< counts so far, over twice the distance
  Cells,    ///< all of a cell but its moments
  Moments,  ///< sums over the points of a cell
};

/// One pass. Each unit writes an element of its own, so that passes may be cut anywhere.
struct TreeBuildBody {
  static constexpr int kPushes = 0;
  static constexpr std::int64_t kPointsOfCall = 256;
  struct Unit {
    std::int64_t at = 0;
    std::int64_t next = 0;  ///< Moments: the point to be added next
    bool isSecond = false;  ///< Moments: the middle of the mass is known
    TreeCell sum;
  };

  TreePass pass = TreePass::Keys;
  TreeRoot root;
  std::int64_t pointCount = 0;
  std::int64_t cellCount = 0;
  std::int64_t distance = 1;  ///< Merge: length of runs; Scan: how far it looks back
  std::int64_t leaf = 8;
  Array<const MassPoint> points;  ///< as the pass needs them: in the list's order, or the tree's
  Array<const KeyedPoint> keys;
  Array<const std::int64_t> counts;
  Array<KeyedPoint> newKeys;
  Array<MassPoint> newPoints;
  Array<std::int64_t> newCounts;
  Array<TreeCell> cells;

  TESSERA_KERNEL Unit first(Index at) const {
    Unit unit;
    unit.at = at.i;
    return unit;
  }

  template <class Units>
  TESSERA_KERNEL UnitEnd advance(Unit& unit, Units&) const {
    const std::int64_t n = unit.at;
    if (pass == TreePass::Keys) {
      newKeys(n) = {mortonKey(root, points(n).at), n};
    } else if (pass == TreePass::Merge) {
      newKeys(n) = merged(n);
    } else if (pass == TreePass::Gather) {
      newPoints(n) = points(keys(n).point);
    } else if (pass == TreePass::Count) {
      const int begun = leafLevel(n) - sharedLevel(n);
      newCounts(n) = begun > 0 ? begun : 0;
    } else if (pass == TreePass::Scan) {
      newCounts(n) = counts(n) + (n >= distance ? counts(n - distance) : 0);
    } else if (pass == TreePass::Cells) {
      cells(n) = n < cellCount ? cellOf(n) : TreeCell{};
    } else if (n < cellCount) {
      return addPoints(unit);
    }
    return UnitEnd::Done;
  }

 private:
  TESSERA_KERNEL static bool isBefore(const KeyedPoint& a, const KeyedPoint& b) {
    return a.key != b.key ? a.key < b.key : a.point < b.point;
  }

  /// What lies at place `n` once each two runs are one.
  TESSERA_KERNEL KeyedPoint merged(std::int64_t n) const {
    const std::int64_t begin = n / (2 * distance) * (2 * distance);
    const std::int64_t middle = least(begin + distance, pointCount);
    const std::int64_t countA = middle - begin;
    const std::int64_t countB = least(middle + distance, pointCount) - middle;
    const std::int64_t k = n - begin;
    std::int64_t low = k > countB ? k - countB : 0;
    std::int64_t high = least(k, countA);
    while (low < high) {  // how many of the first k come from the first run
      const std::int64_t i = (low + high) / 2;
      if (isBefore(keys(begin + i), keys(middle + k - i - 1))) {
        low = i + 1;
      } else {
        high = i;
      }
    }
    const std::int64_t j = k - low;
    const bool isFirst = low < countA && (j >= countB || isBefore(keys(begin + low), keys(middle + j)));
    return isFirst ? keys(begin + low) : keys(middle + j);
  }
  TESSERA_KERNEL static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  /// The finest level at which a point and the one before it lie in one cell; -1 for the first point.
  TESSERA_KERNEL int sharedLevel(std::int64_t n) const {
    if (n == 0) return -1;
    int level = kTreeLevels;
    while (keyAt(keys(n).key, level) != keyAt(keys(n - 1).key, level)) --level;
    return level;
  }
  /// Places from `n` on, in its cell at this level.
  TESSERA_KERNEL std::int64_t endOf(std::int64_t n, int level) const {
    const std::uint64_t cell = keyAt(keys(n).key, level);
    std::int64_t low = n + 1;
    std::int64_t high = pointCount;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (keyAt(keys(middle).key, level) == cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  TESSERA_KERNEL std::int64_t beginOf(std::int64_t n, int level) const {
    const std::uint64_t cell = keyAt(keys(n).key, level);
    std::int64_t low = 0;
    std::int64_t high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (keyAt(keys(middle).key, level) == cell) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  TESSERA_KERNEL bool isLeaf(std::int64_t begin, std::int64_t end, int level) const {
    return end - begin <= leaf || level == kTreeLevels;
  }
  TESSERA_KERNEL int leafLevel(std::int64_t n) const {
    int level = 0;
    while (!isLeaf(beginOf(n, level), endOf(n, level), level)) ++level;
    return level;
  }

  TESSERA_KERNEL TreeCell cellOf(std::int64_t number) const {
    std::int64_t low = 0;
    std::int64_t high = pointCount - 1;
    while (low < high) {  // the point that begins it
      const std::int64_t middle = (low + high) / 2;
      if (counts(middle) > number) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const std::int64_t before = low > 0 ? counts(low - 1) : 0;
    const int level = sharedLevel(low) + 1 + static_cast<int>(number - before);
    const std::int64_t end = endOf(low, level);
    TreeCell cell;
    cell.middle = root.middle;
    cell.side = root.side;
    for (int above = 0; above < level; ++above) {
      const std::uint64_t child = keyAt(keys(low).key, above + 1) & 7U;
      for (int axis = 0; axis < kAxes; ++axis)
        cell.middle[axis] += (child >> axis & 1U) != 0 ? 0.25 * cell.side : -0.25 * cell.side;
      cell.side = 0.5 * cell.side;
    }
    cell.next = static_cast<std::int32_t>(counts(end - 1));
    cell.first = static_cast<std::int32_t>(low);
    cell.count = isLeaf(low, end, level) ? static_cast<std::int32_t>(end - low) : 0;
    return cell;
  }

  /// The points of a cell: up to the first one of the cell behind it.
  TESSERA_KERNEL std::int64_t lastOf(const TreeCell& cell) const {
    return cell.next < cellCount ? cells(cell.next).first : pointCount;
  }

  TESSERA_KERNEL UnitEnd addPoints(Unit& unit) const {
    TreeCell& sum = unit.sum;
    if (!unit.isSecond && unit.next == 0) {
      sum = cells(unit.at);
      unit.next = sum.first;
    }
    const std::int64_t last = lastOf(sum);
    const std::int64_t end = least(unit.next + kPointsOfCall, last);
    for (; unit.next < end; ++unit.next) {
      unit.isSecond ? addQuadrupole(sum, points(unit.next)) : addMass(sum, points(unit.next));
    }
    if (unit.next < last) return UnitEnd::GoOn;
    if (!unit.isSecond) {
      sum.mean.at = (1.0 / sum.mean.mass) * sum.mean.at;
      unit.isSecond = true;
      unit.next = sum.first;
      return UnitEnd::GoOn;
    }
    TreeCell& cell = cells(unit.at);
    cell.mean = sum.mean;
    cell.quadrupole = sum.quadrupole;
    return UnitEnd::Done;
  }
};

const JobKernels& treeBuildKernels();

}  // namespace tessera::jobs
