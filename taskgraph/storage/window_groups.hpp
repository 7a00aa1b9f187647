#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"

namespace tessera {

/// How many times the distinct cells private windows may take before they are merged. Narrow halos stay
/// private, since compact windows are fast and several threads fill them at once: 8^3 patches with one cell
/// take 1.95 times at most, with two cells 3.4 times. Halos of `kLargeHalo` cells or more have to be lean.
inline constexpr double kCopiesOfSmallHalos = 4.0;
inline constexpr double kCopiesOfLargeHalos = 1.05;
inline constexpr std::int64_t kLargeHalo = 8;
/// The status word of a description counts its entries in 16 bits.
inline constexpr std::size_t kLargestGroup = 65'535;

/// Boxes that are stored as one, and the box that holds them all.
struct WindowGroup {
  std::vector<std::int32_t> members;  ///< positions in the list of boxes, ascending; two or more
  Box window;
  /// The owned boxes fill their bounding box: there is no void, also not in the halo around them.
  bool full = false;
};

/// Which of `windows` to store together, so that few cells are stored twice and few that no window has.
/// `owned` are the disjoint boxes that the windows have been grown from. Empty where private copies take at
/// most `copies` times the distinct cells. Boxes in no group keep a window of their own.
///
/// All boxes start in one group. A group whose owned boxes leave a void in their bounding box is cut in two,
/// by the plane through no owned box that takes most of the void away, and the halves in the same manner;
/// the cut stays when the parts together take less memory. Pure: the same groups from the same boxes.
/// O(n log n) for n boxes without a void.
std::vector<WindowGroup> groupWindows(std::span<const Box> owned, std::span<const Box> windows,
                                      double copies);

/// Cells that lie in at least one of the boxes, each counted once.
std::int64_t distinctCells(std::span<const Box> boxes);

}  // namespace tessera
