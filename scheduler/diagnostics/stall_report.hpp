#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/executor.hpp"

namespace tessera::detail {

/// How far a node has come in a replay without progress.
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

/// The state of an executor with one thread: `left` has for each node the predecessors that have not
/// completed, `ready` could run.
StalledReplay standOf(NodeSource& source, std::span<const std::int32_t> left,
                      std::span<const std::int32_t> ready);

/// What waits for what: the beginnings of all chains of waiting nodes, the messages that have not come, and a
/// cycle of nodes where there is one. At most some lines of each kind, for people. `seconds`: how long
/// there has been no progress, where that is measured in time.
std::string stallReport(const NodeSource& source, const StalledReplay& replay, std::optional<double> seconds);

/// A rank cannot go on before another one has done something.
struct RankWait {
  int rank = 0;
  int waitsFor = 0;
  std::string what;
};

/// How long to wait for what other ranks say about a stall: they notice it about when this one does.
inline std::chrono::duration<double> talkLimit(double stallSeconds) {
  return std::chrono::duration<double>(std::min(stallSeconds, 5.0));
}

/// A sentence about a cycle of ranks that wait for each other, or empty where there is none.
std::string rankCycle(const std::vector<RankWait>& waits);

}  // namespace tessera::detail
