#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/box.hpp"

namespace tessera {

/// Private copies are merged only where they would take more than this many times the distinct cells. A halo
/// of one cell on patches of 8^3 takes 1.95 times at most, two cells 3.4 times; 16 cells on 16^3 take up to
/// 27 times.
inline constexpr std::int64_t kWorthSharing = 4;
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
/// most `kWorthSharing` times the distinct cells. Boxes in no group keep a window of their own.
///
/// All boxes start in one group. A group whose owned boxes leave a void in their bounding box is cut in two,
/// by the plane through no owned box that takes most of the void away, and the halves in the same manner;
/// the cut stays when the parts together take less memory. Pure: the same groups from the same boxes.
/// O(n log n) for n boxes without a void.
std::vector<WindowGroup> groupWindows(std::span<const Box> owned, std::span<const Box> windows);

/// Cells that lie in at least one of the boxes, each counted once.
std::int64_t distinctCells(std::span<const Box> boxes);

}  // namespace tessera
