#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// What one rank stores of one variable on one level, all generations together, in bytes.
struct StoredWindows {
  LabelId label = -1;
  LevelId level = 0;
  int generations = 1;
  std::int64_t patches = 0;
  std::int64_t sharedWindows = 0;  ///< each serves several patches
  std::int64_t bytes = 0;          ///< taken: private windows, and shared ones once
  std::int64_t distinctBytes = 0;  ///< of the indices that some patch needs, halos included, each once
  std::int64_t privateBytes = 0;   ///< what a window for each patch would take

  /// Taken over distinct; 1 where nothing is stored twice and no void is stored.
  double overhead() const {
    return distinctBytes == 0 ? 1.0 : static_cast<double>(bytes) / static_cast<double>(distinctBytes);
  }
};

/// One for each of `graphs.storage`, in that order. Pure; O(n log n) for n patches and kinds of windows.
std::vector<StoredWindows> storedWindows(const CompiledGraphs& graphs);

/// The sum of all; label and level are -1.
StoredWindows sumOf(std::span<const StoredWindows> windows);

}  // namespace tessera
