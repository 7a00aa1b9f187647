#include "grid/regrid/block_set.hpp"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t kUnsettledAtMost = std::size_t{1} << 16;

/// The pieces of [lo, hi) that lie in [0, count), those of images included.
std::vector<std::array<std::int64_t, 2>> piecesInside(std::int64_t lo, std::int64_t hi, std::int64_t count,
                                                      bool wraps) {
  if (wraps && hi - lo >= count) return {{0, count}};
  std::vector<std::array<std::int64_t, 2>> pieces;
  for (const std::int64_t image : {-1, 0, 1}) {
    if (image != 0 && !wraps) continue;
    const std::int64_t first = std::max<std::int64_t>(0, lo + image * count);
    const std::int64_t last = std::min(count, hi + image * count);
    if (first < last) pieces.push_back({first, last});
  }
  return pieces;
}

}  // namespace

void BlockSet::add(const Box& blocks) {
  for (const auto& [kLo, kHi] : piecesInside(blocks.lo.k, blocks.hi.k, lattice_.k, wraps_[2])) {
    for (const auto& [jLo, jHi] : piecesInside(blocks.lo.j, blocks.hi.j, lattice_.j, wraps_[1])) {
      for (const auto& [iLo, iHi] : piecesInside(blocks.lo.i, blocks.hi.i, lattice_.i, wraps_[0])) {
        for (std::int64_t k = kLo; k < kHi; ++k) {
          for (std::int64_t j = jLo; j < jHi; ++j) {
            for (std::int64_t i = iLo; i < iHi; ++i) blocks_.push_back({i, j, k});
          }
        }
      }
    }
  }
  if (blocks_.size() - settled_ > std::max(settled_, kUnsettledAtMost)) settle();
}

void BlockSet::add(const BlockSet& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
}

void BlockSet::settle() {
  std::sort(blocks_.begin(), blocks_.end(), blockBefore);
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  settled_ = blocks_.size();
}

std::span<const Index> BlockSet::blocks() {
  if (settled_ != blocks_.size()) settle();
  return blocks_;
}

bool BlockSet::contains(Index block) {
  const std::span<const Index> all = blocks();
  return std::binary_search(all.begin(), all.end(), block, blockBefore);
}

}  // namespace tessera
