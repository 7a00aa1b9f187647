#pragma once

#include "tools/bench/replay/replay_graph.hpp"
#include "tools/bench/taskbench/pattern.hpp"

namespace tessera::bench {

/// The graph of a valid pattern. Besides the edges of the pattern it has those that a slot needs before it is
/// written again: from the readers of what it holds, or, where nobody reads that, from the task that wrote
/// it.
ReplayGraph graphOf(const Pattern& pattern);

}  // namespace tessera::bench
