#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/bench/replay/replay_graph.hpp"
#include "tools/bench/replay/task_call.hpp"

namespace tessera::bench {

/// One runtime that replays a graph. It is made outside of the measured time.
class ReplaySystem {
 public:
  virtual ~ReplaySystem() = default;
  virtual std::string name() const = 0;
  /// Around each measured replay.
  virtual void enter() {}
  virtual void leave() {}
  virtual void replay() = 0;
};

// `graph` and what `task` calls outlive the system.

std::unique_ptr<ReplaySystem> makeTessera(const ReplayGraph& graph, TaskCall task, int threads);
/// The peers that this build found, each by the fastest way that it has for such a graph.
std::vector<std::unique_ptr<ReplaySystem>> makePeers(const ReplayGraph& graph, TaskCall task, int threads);

/// Of one replay.
struct ReplayTime {
  double wall = 0.0;  ///< seconds
  double cpu = 0.0;   ///< seconds, all threads together
};

/// Before one of several systems is measured: threads of the one before may still look for work.
void letOthersRest();
ReplayTime timeReplay(ReplaySystem& system);

}  // namespace tessera::bench
