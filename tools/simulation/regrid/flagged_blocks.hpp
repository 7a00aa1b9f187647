#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "grid/regrid/regrid.hpp"

namespace tessera {

/// What tasks of a rank flag, gathered over its patches. Any number of threads may add at once; the result is
/// a set, so their order does not count.
class FlaggedBlocks {
 public:
  /// `buffers`: how many cells around a flagged one are flagged with it, by its level.
  FlaggedBlocks(RegridRules rules, std::vector<std::int64_t> buffers);

  /// Cells of a level, 0 being the coarsest one.
  void add(LevelId level, std::span<const Box> cells);
  /// The flags so far, for each refined level; then there are none. Where no task runs.
  std::vector<BlockSet> take();

 private:
  const RegridRules rules_;
  const std::vector<std::int64_t> buffers_;
  std::mutex mutex_;
  std::vector<BlockSet> flags_;
};

}  // namespace tessera
