#pragma once

#include <cstdint>

namespace tessera {

/// Where the data of a read lie, seen from the patch of the task.
enum class Reach : std::uint8_t {
  Patch,       ///< the patch and its halo
  Coarser,     ///< under it, on the next coarser level
  Finer,       ///< over it, on the next finer level
  WholeLevel,  ///< everywhere on a level
};

}  // namespace tessera
