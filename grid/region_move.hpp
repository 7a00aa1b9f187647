#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "grid/patch.hpp"

namespace tessera {

/// How the values of a move come about. A new kind needs the moves that use it (taskgraph/moves) and its
/// operation (datawarehouse/moves/region_op); nothing else asks for the kind.
enum class MoveKind : std::uint8_t {
  Copy,       ///< each index takes the value of one index of the source
  Prolong,    ///< a fine index takes the value of the coarse one that it lies in (cells) or starts from
  Linear,     ///< a fine index takes what a straight line through the coarse ones around it says
  Limited,    ///< likewise, but never beyond the least and the largest of them
  Average,    ///< a coarse index takes the mean of the fine ones in it
  Condition,  ///< beyond a side of the domain: from the interior of the same memory, and the side's condition
};

/// What a move does to a box of indices of its destination. Pure geometry: the memory is named elsewhere.
struct RegionMove {
  MoveKind kind = MoveKind::Copy;
  Box region;
  Index shift;  ///< an index of the destination minus the one of its source, in the destination's indices
  Extent ratio{1, 1, 1};                  ///< of the finer one of two levels to the coarser one
  int side = 0;                           ///< of a condition
  Centering centering = Centering::Cell;  ///< of Linear and Limited
};

}  // namespace tessera
