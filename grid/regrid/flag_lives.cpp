#include "grid/regrid/flag_lives.hpp"

#include <algorithm>

namespace tessera {

void FlagLives::prolong(std::vector<BlockSet>& flags) {
  if (regrids_ == 0) return;
  levels_.resize(flags.size());
  for (std::size_t level = 0; level < flags.size(); ++level) {
    std::vector<Life> lives;
    for (const Index& block : flags[level].blocks()) lives.push_back({block, regrids_});
    for (const Life& life : levels_[level]) {
      if (life.left > 0 && !flags[level].contains(life.block)) lives.push_back({life.block, life.left - 1});
    }
    std::sort(lives.begin(), lives.end(),
              [](const Life& a, const Life& b) { return blockBefore(a.block, b.block); });
    for (const Life& life : lives) flags[level].add(life.block);
    levels_[level] = std::move(lives);
  }
}

std::vector<double> FlagLives::numbersOf(std::size_t level) const {
  std::vector<double> numbers;
  if (level >= levels_.size()) return numbers;
  for (const Life& life : levels_[level]) {
    for (int d = 0; d < kAxes; ++d) numbers.push_back(static_cast<double>(life.block[d]));
    numbers.push_back(static_cast<double>(life.left));
  }
  return numbers;
}

void FlagLives::restore(std::size_t level, const std::vector<double>& numbers) {
  if (level >= levels_.size()) levels_.resize(level + 1);
  levels_[level].clear();
  for (std::size_t n = 0; n + 3 < numbers.size(); n += 4) {
    levels_[level].push_back(
        {{static_cast<std::int64_t>(numbers[n]), static_cast<std::int64_t>(numbers[n + 1]),
          static_cast<std::int64_t>(numbers[n + 2])},
         static_cast<std::int64_t>(numbers[n + 3])});
  }
}

}  // namespace tessera
