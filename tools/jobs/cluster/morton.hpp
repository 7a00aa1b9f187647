#pragma once

#include <cstdint>

#include "tools/jobs/vector3.hpp"

namespace tessera::jobs {

/// Levels of an octree below its root.
inline constexpr int kTreeLevels = 21;

/// The cube of an octree's root.
struct TreeRoot {
  Real3 middle;
  double side = 1.0;
};

/// The lower 21 bits of a number, two free places between each.
TESSERA_KERNEL inline std::uint64_t spreadBits(std::uint64_t x) {
  x = (x | x << 32) & 0x1f00000000ffffULL;
  x = (x | x << 16) & 0x1f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  return (x | x << 2) & 0x1249249249249249ULL;
}

/// Morton's key of a point: three bits for each level, those of the first level at the top.
TESSERA_KERNEL inline std::uint64_t mortonKey(const TreeRoot& root, Real3 at) {
  std::uint64_t key = 0;
  for (int axis = 0; axis < kAxes; ++axis) {
    const double place = (at[axis] - root.middle[axis]) / root.side + 0.5;
    key |= spreadBits(static_cast<std::uint64_t>(place * (1 << kTreeLevels))) << axis;
  }
  return key;
}

/// The part of a key that says the cell at `level` below the root.
TESSERA_KERNEL inline std::uint64_t keyAt(std::uint64_t key, int level) {
  return level == 0 ? 0 : key >> (3 * (kTreeLevels - level));
}

}  // namespace tessera::jobs
