#include "grid/refined_levels.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "grid/refine.hpp"
#include "grid/search/box_tree.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse(const std::vector<RefinedLevel>& levels, const BoxFault& fault) {
  throw DeckError(Message("a box of [[grid.level]] cannot be refined")
                      .line("level  ", fault.level + 1, ", cells ",
                            asText(levels[fault.level].boxes[fault.box]), " of level ", fault.level)
                      .line("why    it ", fault.why)
                      .line("fix    ", fault.fix)
                      .text());
}

/// The parts of `box` inside the domain; along a periodic axis what leaves it comes back at the other end.
std::vector<Box> partsInside(const Box& box, const Box& domain, const Geometry& geometry) {
  std::vector<Box> parts{box};
  for (int d = 0; d < kAxes; ++d) {
    std::vector<Box> cut;
    for (const Box& part : parts) {
      for (const std::int64_t image : {-1, 0, 1}) {
        if (image != 0 && !geometry.wraps(d)) continue;
        Box moved = part;
        moved.lo[d] = std::max(domain.lo[d], part.lo[d] + image * domain.extent()[d]);
        moved.hi[d] = std::min(domain.hi[d], part.hi[d] + image * domain.extent()[d]);
        if (moved.hi[d] > moved.lo[d]) cut.push_back(moved);
      }
    }
    parts = std::move(cut);
  }
  return parts;
}

/// Notes what is wrong with the boxes of one level, given those of the level below in cells of that level.
class BoxCheck {
 public:
  BoxCheck(std::size_t level, const std::vector<Box>& boxes, Nesting nesting, std::vector<BoxFault>& faults)
      : level_(level), boxes_(boxes), nesting_(nesting), tree_(boxes), faults_(faults) {}

  void run(const Geometry& geometry, const Box& domain, const std::vector<Box>& below) {
    const BoxTree belowTree(below);
    Halo ring;
    for (int d = 0; d < kAxes; ++d) ring.lo[d] = ring.hi[d] = geometry.active(d) ? 1 : 0;
    const std::string coarser = "level " + std::to_string(level_);
    for (std::size_t n = 0; n < boxes_.size(); ++n) {
      const auto covered = [&](const Box& box) {
        std::int64_t cells = 0;
        belowTree.visit(below, box, [&](std::size_t b) { cells += intersect(below[b], box).volume(); });
        return cells == box.volume();
      };
      if (boxes_[n].empty()) {
        note(n, "holds no cell", "make upper greater than lower on every axis");
      } else if (!domain.contains(boxes_[n])) {
        note(n, "leaves the domain", "keep lower and upper inside [grid]");
      } else if (overlapsEarlier(n)) {
        continue;
      } else if (!covered(boxes_[n])) {
        note(n, "is not covered by the boxes of " + coarser, "enlarge the boxes of " + coarser);
      } else if (nesting_ == Nesting::WithRing) {
        const std::vector<Box> around = partsInside(grow(boxes_[n], ring), domain, geometry);
        if (std::all_of(around.begin(), around.end(), covered)) continue;
        note(n, "ends where " + coarser + " ends, but it has to extend one cell beyond it",
             "enlarge the boxes of " + coarser + ", or make this one smaller");
      }
    }
  }

 private:
  bool overlapsEarlier(std::size_t n) {
    std::size_t earliest = n;
    tree_.visit(boxes_, boxes_[n], [&](std::size_t other) { earliest = std::min(earliest, other); });
    if (earliest == n) return false;
    note(n, "overlaps " + asText(boxes_[earliest]), "join the two boxes or let them only touch");
    return true;
  }
  void note(std::size_t box, std::string why, std::string fix) {
    faults_.push_back({level_, box, std::move(why), std::move(fix)});
  }

  std::size_t level_;
  const std::vector<Box>& boxes_;
  const Nesting nesting_;
  BoxTree tree_;
  std::vector<BoxFault>& faults_;
};

/// How many cells of `box` lie in none of the boxes, which are disjoint.
std::int64_t cellsOutside(const Box& box, const std::vector<Box>& boxes, const BoxTree& tree) {
  std::int64_t cells = box.volume();
  tree.visit(boxes, box, [&](std::size_t b) { cells -= intersect(boxes[b], box).volume(); });
  return cells;
}

/// The parts of `box` in none of the boxes.
std::vector<Box> partsOutside(const Box& box, const std::vector<Box>& boxes, const BoxTree& tree) {
  std::vector<Box> open{box};
  tree.visit(boxes, box, [&](std::size_t b) { open = subtract(open, boxes[b]); });
  return open;
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
  for (int d = 0; d < kAxes; ++d) at[d] = cuts(box.lo[d], box.hi[d], std::min(size[d], box.extent()[d]));
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

Extent ratioAlongAxes(const Geometry& geometry, std::int64_t ratio) {
  Extent ratios{1, 1, 1};
  for (int d = 0; d < kAxes; ++d) {
    if (geometry.active(d)) ratios[d] = ratio;
  }
  return ratios;
}

std::vector<BoxFault> findBoxFaults(const Geometry& geometry, const std::vector<RefinedLevel>& levels,
                                    Nesting nesting) {
  std::vector<BoxFault> faults;
  Box domain{{}, geometry.cells};
  std::vector<Box> below{domain};
  for (std::size_t n = 0; n < levels.size(); ++n) {
    BoxCheck(n, levels[n].boxes, nesting, faults).run(geometry, domain, below);
    const Extent ratio = ratioAlongAxes(geometry, levels[n].ratio);
    below.clear();
    for (const Box& box : levels[n].boxes) below.push_back(refine(box, ratio));
    domain = refine(domain, ratio);
  }
  return faults;
}

std::vector<BoxFault> findShortLevels(const Geometry& geometry, const std::vector<RefinedLevel>& levels,
                                      const NestingNeed& need) {
  // The level that is read and the one below, counted from the coarsest one, which covers the domain.
  const std::size_t read = need.level + (need.reach == Reach::Coarser ? 0 : 1);
  if (read < 2) return {};
  Box domain{{}, geometry.cells};
  for (std::size_t n = 0; n < read; ++n) domain = refine(domain, ratioAlongAxes(geometry, levels[n].ratio));
  const Extent ratio = ratioAlongAxes(geometry, levels[read - 1].ratio);
  std::vector<Box> level;
  for (const Box& box : levels[read - 1].boxes) level.push_back(refine(box, ratio));
  std::vector<Box> below;
  const Extent ratioBelow = ratioAlongAxes(geometry, levels[read - 2].ratio);
  for (const Box& box : levels[read - 2].boxes) below.push_back(refine(box, ratioBelow));
  const BoxTree levelTree(level);
  const BoxTree belowTree(below);

  Halo halo = need.halo;
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) halo.lo[d] = halo.hi[d] = 0;
  }
  std::vector<BoxFault> faults;
  const std::vector<Box>& readers = need.reach == Reach::Coarser ? levels[need.level].boxes : level;
  for (std::size_t n = 0; n < readers.size(); ++n) {
    std::int64_t missing = 0;
    for (const Box& around : partsInside(grow(readers[n], halo), domain, geometry)) {
      for (const Box& open : partsOutside(around, level, levelTree))
        missing += cellsOutside(coarsen(open, ratio), below, belowTree);
    }
    if (missing > 0) faults.push_back({need.level, n, "", ""});
  }
  return faults;
}

std::shared_ptr<const Hierarchy> refinedHierarchy(const Geometry& geometry, const Division& division,
                                                  const std::vector<RefinedLevel>& levels) {
  const std::vector<BoxFault> faults = findBoxFaults(geometry, levels, Nesting::Covered);
  if (!faults.empty()) refuse(levels, faults.front());
  const auto coarsest = Hierarchy::uniform(geometry, division);
  std::vector<Level> all{coarsest->level(0)};
  PatchId next = coarsest->patchCount();
  for (const RefinedLevel& refined : levels) {
    const Level& coarser = all.back();
    const LevelId number = coarser.number() + 1;
    const Extent ratio = ratioAlongAxes(geometry, refined.ratio);
    std::vector<Patch> patches;
    for (const Box& box : refined.boxes) cutBox(refine(box, ratio), refined.patchSize, number, next, patches);
    next += static_cast<PatchId>(patches.size());
    all.emplace_back(number, geometry, refine(coarser.domain(), ratio), ratio, std::move(patches));
  }
  return std::make_shared<const Hierarchy>(geometry, std::move(all));
}

}  // namespace tessera
