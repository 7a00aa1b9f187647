#include "tools/simulation/regrid/flagged_blocks.hpp"

#include <utility>

namespace tessera {

FlaggedBlocks::FlaggedBlocks(RegridRules rules, std::vector<std::int64_t> buffers)
    : rules_(std::move(rules)), buffers_(std::move(buffers)), flags_(noFlags(rules_)) {}

void FlaggedBlocks::add(LevelId level, std::span<const Box> cells) {
  const auto n = static_cast<std::size_t>(level);
  Halo buffer;
  for (int d = 0; d < kAxes; ++d) buffer.lo[d] = buffer.hi[d] = rules_.geometry.active(d) ? buffers_[n] : 0;
  BlockSet own = std::move(noFlags(rules_)[n]);
  for (const Box& box : cells) flagCells(rules_, n, grow(box, buffer), own);
  own.blocks();  // each once
  const std::lock_guard lock(mutex_);
  flags_[n].add(own);
}

std::vector<BlockSet> FlaggedBlocks::take() { return std::exchange(flags_, noFlags(rules_)); }

}  // namespace tessera
