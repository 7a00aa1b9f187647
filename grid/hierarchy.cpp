#include "grid/hierarchy.hpp"

#include <bit>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

/// A multiply-and-fold hash over 64-bit words (the mixing step of SplitMix64): small, and the same on every
/// machine.
class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0xBF58476D1CE4E5B9ULL;
    value_ ^= value_ >> 31;
  }
  void add(Index x) {
    for (int d = 0; d < kAxes; ++d) add(static_cast<std::uint64_t>(x[d]));
  }
  void add(Real3 x) {
    for (int d = 0; d < kAxes; ++d) add(std::bit_cast<std::uint64_t>(x[d]));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

std::vector<std::int64_t> cutsAlong(const Geometry& geometry, const Division& division, int axis) {
  const std::int64_t cells = geometry.cells[axis];
  const std::int64_t value = division.value[axis];
  const char name = "xyz"[axis];
  if (value < 1 || value > cells) {
    const bool count = division.by == Division::By::Patches;
    throw DeckError(Message("level 0 cannot be cut as [grid] asks")
                        .line("axis  ", name, " has ", cells, cells == 1 ? " cell" : " cells")
                        .line("asks  ", count ? "patches = " : "patch_size = ", value)
                        .line("fix   give a number from 1 to ", cells, " for this axis")
                        .text());
  }
  if (division.by == Division::By::Patches) return cutAxis(cells, value);
  std::vector<std::int64_t> cuts;
  for (std::int64_t at = 0; at < cells; at += value) cuts.push_back(at);
  cuts.push_back(cells);
  return cuts;
}

}  // namespace

std::vector<std::int64_t> cutAxis(std::int64_t cells, std::int64_t pieces) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t n = 0; n <= pieces; ++n) {
    cuts.push_back(cells / pieces * n + std::min(n, cells % pieces));
  }
  return cuts;
}

std::shared_ptr<const Hierarchy> Hierarchy::uniform(const Geometry& geometry, const Division& division) {
  std::vector<std::int64_t> cuts[kAxes];
  for (int d = 0; d < kAxes; ++d) cuts[d] = cutsAlong(geometry, division, d);
  std::vector<Patch> patches;
  for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k) {
    for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j) {
      for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i) {
        const Box cells{{cuts[0][i], cuts[1][j], cuts[2][k]},
                        {cuts[0][i + 1], cuts[1][j + 1], cuts[2][k + 1]}};
        patches.push_back({static_cast<PatchId>(patches.size()), 0, cells});
      }
    }
  }
  std::vector<Level> levels;
  levels.emplace_back(0, geometry, Box{{}, geometry.cells}, Extent{1, 1, 1}, std::move(patches));
  return std::make_shared<const Hierarchy>(geometry, std::move(levels));
}

Hierarchy::Hierarchy(Geometry geometry, std::vector<Level> levels)
    : geometry_(geometry), levels_(std::move(levels)) {
  Hash hash;
  hash.add(geometry_.lower);
  hash.add(geometry_.upper);
  hash.add(geometry_.cells);
  for (int d = 0; d < kAxes; ++d) hash.add(geometry_.periodic[static_cast<std::size_t>(d)] ? 1U : 0U);
  for (const Level& level : levels_) {
    hash.add(level.ratioToCoarser());
    hash.add(static_cast<std::uint64_t>(level.patches().size()));
    for (const Patch& patch : level.patches()) {
      TESSERA_EXPECT(patch.id == patchCount(), "number patches densely, level 0 first");
      TESSERA_EXPECT(level.domain().contains(patch.cells) && !patch.cells.empty(),
                     "keep patches inside the domain");
      levelOfPatch_.push_back(level.number());
      hash.add(patch.cells.lo);
      hash.add(patch.cells.hi);
    }
  }
  hash_ = hash.value();
}

const Patch& Hierarchy::patch(PatchId id) const {
  const Level& level = levels_[static_cast<std::size_t>(levelOfPatch_[static_cast<std::size_t>(id)])];
  return level.patches()[static_cast<std::size_t>(id - level.firstPatch())];
}

std::int64_t Hierarchy::cellCount() const {
  std::int64_t cells = 0;
  for (const Level& level : levels_) cells += level.cellCount();
  return cells;
}

}  // namespace tessera
