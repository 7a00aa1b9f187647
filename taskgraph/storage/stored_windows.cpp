#include "taskgraph/storage/stored_windows.hpp"

#include <algorithm>

#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/window_groups.hpp"

namespace tessera {
namespace {

/// Windows of the same level, centering and halo are the same boxes.
struct Kind {
  LevelId level = 0;
  Centering centering = Centering::Cell;
  Halo halo;
  std::int64_t distinct = 0;  ///< indices

  bool serves(const LevelStorage& storage, Centering wanted) const {
    return level == storage.level && centering == wanted && halo == storage.halo;
  }
};

std::vector<Box> windowsOf(const CompiledGraphs& graphs, const LevelStorage& storage, Centering centering) {
  const Level& level = graphs.hierarchy->level(storage.level);
  const Range own = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)];
  std::vector<Box> windows;
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    const Patch& patch = graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
    windows.push_back(fillTarget(level, patch, centering, storage.halo, Reach::Patch));
  }
  return windows;
}

StoredWindows countsOf(const CompiledGraphs& graphs, const LevelStorage& storage,
                       std::span<const Box> windows, std::int64_t distinct) {
  const std::int64_t first = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)].begin;
  StoredWindows counts{storage.label, storage.level, storage.hasOld ? 2 : 1};
  counts.patches = static_cast<std::int64_t>(windows.size());
  counts.sharedWindows = storage.shared.size();
  const std::int64_t one = graphs.labels->info(storage.label).type.bytes();
  for (const Box& window : windows) counts.privateBytes += window.volume() * one;
  counts.bytes = counts.privateBytes;
  for (std::int64_t s = storage.shared.begin; s < storage.shared.end; ++s) {
    const SharedWindow& shared = graphs.shared[static_cast<std::size_t>(s)];
    counts.bytes += bytesOf(shared, one);
    for (const std::int32_t member : shared.members) {
      counts.bytes -= windows[static_cast<std::size_t>(member - first)].volume() * one;
    }
  }
  counts.distinctBytes = distinct * one * counts.generations;
  counts.bytes *= counts.generations;
  counts.privateBytes *= counts.generations;
  return counts;
}

}  // namespace

std::vector<StoredWindows> storedWindows(const CompiledGraphs& graphs) {
  std::vector<StoredWindows> list;
  std::vector<Kind> kinds;
  for (const LevelStorage& storage : graphs.storage) {
    const Centering centering = graphs.labels->info(storage.label).centering;
    const std::vector<Box> windows = windowsOf(graphs, storage, centering);
    auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.serves(storage, centering); });
    if (kind == kinds.end()) {
      kind = kinds.insert(kind, {storage.level, centering, storage.halo, distinctCells(windows)});
    }
    list.push_back(countsOf(graphs, storage, windows, kind->distinct));
  }
  return list;
}

StoredWindows sumOf(std::span<const StoredWindows> windows) {
  StoredWindows sum{-1, -1};
  for (const StoredWindows& w : windows) {
    sum.patches += w.patches;
    sum.sharedWindows += w.sharedWindows;
    sum.bytes += w.bytes;
    sum.distinctBytes += w.distinctBytes;
    sum.privateBytes += w.privateBytes;
  }
  return sum;
}

}  // namespace tessera
