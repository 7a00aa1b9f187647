#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/executor.hpp"

namespace tessera::detail {

/// How far a node has come in a replay that does not get on.
enum class NodeStand : std::uint8_t {
  Unused,
  Waits,  ///< for predecessors
  Ready,  ///< could run
  Begun,  ///< has run, and is reported by `poll` when it has ended
  Done,
};

/// A replay at rest. `missing` counts, by node, the predecessors whose completion has not arrived.
struct StalledReplay {
  std::vector<NodeStand> stands;
  std::vector<std::int32_t> missing;
};

/// Who waits for what: the beginnings of all chains of waiting nodes, the messages that have not come, and a
/// circle of nodes where there is one. At most some lines of each kind, for people.
std::string stallPage(const NodeSource& source, const StalledReplay& replay, double seconds);

}  // namespace tessera::detail
