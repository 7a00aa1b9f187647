#pragma once

#include <cstdint>

#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "grid/region_move.hpp"

namespace tessera {

/// A piece of memory of one rank that a move takes from or writes to.
struct MoveRef {
  enum class In : std::uint8_t {
    Entry,     ///< the window of a variable on own patch `number`
    Gather,    ///< buffer `number` of the plan
    Scratch,   ///< a window of the worker that runs the reading task
    Received,  ///< message `number` of the plan's receives
    Sent,      ///< message `number` of the plan's sends
  };
  In in = In::Entry;
  std::int32_t number = -1;
  std::int64_t offset = 0;  ///< of messages: bytes before the first element of `box`
  Box box;                  ///< of messages: the indices that lie there, x fastest
};

/// One box of values of one variable that goes from one piece of memory to another. A condition takes from
/// where it goes to.
struct Move {
  RegionMove what;
  LabelId label = -1;
  LevelId level = 0;                        ///< whose indices `what` is given in
  Generation generation = Generation::Old;  ///< of entries
  MoveRef to;
  MoveRef from;
};

}  // namespace tessera
