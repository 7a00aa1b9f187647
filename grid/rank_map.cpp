#include "grid/rank_map.hpp"

#include <algorithm>
#include <numeric>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

/// Spreads the low 21 bits of `x`, two zero bits between each.
std::uint64_t spread(std::uint64_t x) {
  std::uint64_t r = 0;
  for (int bit = 0; bit < 21; ++bit) r |= ((x >> bit) & 1U) << (3 * bit);
  return r;
}

std::uint64_t mortonKey(const Patch& patch, const Box& domain) {
  std::uint64_t key = 0;
  for (int d = 0; d < kAxes; ++d) {
    const std::int64_t centre = (patch.cells.lo[d] + patch.cells.hi[d]) / 2 - domain.lo[d];
    // 2^21 steps along each axis are finer than any patch of a run that fits into memory.
    const auto scaled = static_cast<std::uint64_t>(
        static_cast<double>(centre) / static_cast<double>(domain.extent()[d]) * ((1U << 21) - 1));
    key |= spread(scaled) << d;
  }
  return key;
}

}  // namespace

std::vector<int> cutAlongCurve(const Level& level, std::span<const Patch> patches, int parts) {
  TESSERA_EXPECT(parts >= 1, "cut into at least one part");
  std::vector<std::uint64_t> keys;
  double total = 0.0;
  for (const Patch& patch : patches) {
    keys.push_back(mortonKey(patch, level.domain()));
    total += static_cast<double>(patch.cells.volume());
  }
  std::vector<std::size_t> order(patches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<int> partOf(patches.size(), 0);
  double before = 0.0;
  for (const std::size_t n : order) {
    const auto cells = static_cast<double>(patches[n].cells.volume());
    // The part whose share contains the middle of this patch's piece of the curve.
    const auto part = static_cast<int>((before + 0.5 * cells) / total * parts);
    partOf[n] = std::min(part, parts - 1);
    before += cells;
  }
  return partOf;
}

RankMap distribute(const Hierarchy& hierarchy, int ranks) {
  RankMap owner(static_cast<std::size_t>(hierarchy.patchCount()), 0);
  for (const Level& level : hierarchy.levels()) {
    const auto patches = level.patches();
    const std::vector<int> rankOf = cutAlongCurve(level, patches, ranks);
    for (std::size_t n = 0; n < patches.size(); ++n) {
      owner[static_cast<std::size_t>(patches[n].id)] = rankOf[n];
    }
  }
  return owner;
}

}  // namespace tessera
