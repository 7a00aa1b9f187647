#pragma once

#include <cstdint>

namespace tessera {

/// How much a rank sends at a time: what becomes ready beyond it waits until something has left. So a graph
/// with thousands of peers does not fill the memory and the queues of MPI at once. At least one message is
/// always on its way, however large, and receives are not limited (they are posted before anything is sent):
/// so every step comes to its end under any limit.
struct SendLimit {
  std::int64_t messages = 64;                   ///< at least 1
  std::int64_t bytes = std::int64_t{64} << 20;  ///< of the messages on their way together
};

}  // namespace tessera
