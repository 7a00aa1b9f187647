#pragma once

#include <string>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::fuzz {

/// Where two ranks' graphs are not the same, entry by entry and in the same order; empty where nowhere. Gaps
/// in the pools of lists do not count.
std::string firstDifference(const CompiledGraphs& a, const CompiledGraphs& b);

}  // namespace tessera::fuzz
