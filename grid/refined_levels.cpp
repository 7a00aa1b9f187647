#include "grid/refined_levels.hpp"

#include "core/error.hpp"
#include "grid/refine.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuseBox(LevelId level, const Box& box, const std::string& why, const std::string& fix) {
  throw DeckError(Message("a box of [[grid.level]] cannot be refined")
                      .line("level  ", level, ", cells ", asText(box), " of level ", level - 1)
                      .line("why    ", why)
                      .line("fix    ", fix)
                      .text());
}

void checkBoxes(const Level& coarser, LevelId number, const std::vector<Box>& boxes) {
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    if (boxes[a].empty())
      refuseBox(number, boxes[a], "it holds no cell", "make upper greater than lower on every axis");
    if (!coarser.domain().contains(boxes[a])) {
      refuseBox(number, boxes[a], "it leaves the domain", "keep lower and upper inside [grid]");
    }
    for (std::size_t b = 0; b < a; ++b) {
      if (!intersect(boxes[a], boxes[b]).empty()) {
        refuseBox(number, boxes[a], "it overlaps " + asText(boxes[b]),
                  "join the two boxes or let them only touch");
      }
    }
    std::int64_t covered = 0;
    coarser.forEachOverlapping(boxes[a],
                               [&](const Patch& p) { covered += intersect(p.cells, boxes[a]).volume(); });
    if (covered != boxes[a].volume()) {
      refuseBox(number, boxes[a], "level " + std::to_string(number - 1) + " does not cover all of it",
                "enlarge the boxes of level " + std::to_string(number - 1));
    }
  }
}

/// The lower ends and, last, the upper end of pieces of `size` cells.
std::vector<std::int64_t> cuts(std::int64_t lo, std::int64_t hi, std::int64_t size) {
  std::vector<std::int64_t> at;
  for (std::int64_t x = lo; x < hi; x += size) at.push_back(x);
  at.push_back(hi);
  return at;
}

void cutBox(const Box& box, Extent size, LevelId level, PatchId first, std::vector<Patch>& patches) {
  std::vector<std::int64_t> at[kAxes];
  for (int d = 0; d < kAxes; ++d) at[d] = cuts(box.lo[d], box.hi[d], size[d]);
  for (std::size_t k = 0; k + 1 < at[2].size(); ++k) {
    for (std::size_t j = 0; j + 1 < at[1].size(); ++j) {
      for (std::size_t i = 0; i + 1 < at[0].size(); ++i) {
        const Box cells{{at[0][i], at[1][j], at[2][k]}, {at[0][i + 1], at[1][j + 1], at[2][k + 1]}};
        patches.push_back({first + static_cast<PatchId>(patches.size()), level, cells});
      }
    }
  }
}

}  // namespace

std::shared_ptr<const Hierarchy> refinedHierarchy(const Geometry& geometry, const Division& division,
                                                  const std::vector<RefinedLevel>& levels) {
  const auto coarsest = Hierarchy::uniform(geometry, division);
  std::vector<Level> all{coarsest->level(0)};
  PatchId next = coarsest->patchCount();
  for (const RefinedLevel& refined : levels) {
    const Level& coarser = all.back();
    const LevelId number = coarser.number() + 1;
    checkBoxes(coarser, number, refined.boxes);
    Extent ratio{1, 1, 1};
    for (int d = 0; d < kAxes; ++d) {
      if (geometry.active(d)) ratio[d] = refined.ratio;
    }
    std::vector<Patch> patches;
    for (const Box& box : refined.boxes) cutBox(refine(box, ratio), refined.patchSize, number, next, patches);
    next += static_cast<PatchId>(patches.size());
    all.emplace_back(number, geometry, refine(coarser.domain(), ratio), ratio, std::move(patches));
  }
  return std::make_shared<const Hierarchy>(geometry, std::move(all));
}

}  // namespace tessera
