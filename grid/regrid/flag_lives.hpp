#pragma once

#include <cstdint>
#include <vector>

#include "grid/regrid/block_set.hpp"

namespace tessera {

/// Keeps blocks refined for some regrids after they were flagged last, so that a level does not come and go
/// where a criterion is just met. The numbers belong to the state of a run: a restart goes on with them.
class FlagLives {
 public:
  /// `regrids`: how many of them a block outlives its flag; 0: none.
  explicit FlagLives(std::int64_t regrids = 0) : regrids_(regrids) {}

  /// One regrid: adds to the flags of each level the blocks that were flagged not long ago.
  void prolong(std::vector<BlockSet>& flags);

  /// What of a level a checkpoint has to hold: four numbers a block, its place and how many regrids it has
  /// left. By level, the first one above level 0.
  std::vector<double> numbersOf(std::size_t level) const;
  void restore(std::size_t level, const std::vector<double>& numbers);

 private:
  struct Life {
    Index block;
    std::int64_t left = 0;
  };

  std::int64_t regrids_;
  std::vector<std::vector<Life>> levels_;  ///< in the order of places
};

}  // namespace tessera
