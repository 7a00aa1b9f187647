#include "tests/graph_fuzz/draw_case.hpp"

#include <algorithm>

#include "tests/graph_fuzz/draw_plan.hpp"
#include "tests/graph_fuzz/kernel.hpp"

namespace tessera::fuzz {
namespace {

void drawGeometry(FuzzCase& c, Random& random) {
  const int dimensions = random.chance(25) ? 1 : random.chance(65) ? 2 : 3;
  const std::int64_t most = dimensions == 1 ? 16 : dimensions == 2 ? 10 : 6;
  int axes[] = {0, 1, 2};
  for (int d = 2; d > 0; --d) std::swap(axes[d], axes[random.below(d + 1)]);
  if (dimensions == 2 && random.chance(50)) std::sort(axes, axes + 3);
  for (int n = 0; n < dimensions; ++n) {
    c.geometry.cells[axes[n]] = random.between(3, most);
    c.geometry.periodic[static_cast<std::size_t>(axes[n])] = random.chance(50);
  }
  c.division.by = random.chance(50) ? Division::By::Patches : Division::By::PatchSize;
  for (int n = 0; n < dimensions; ++n) {
    const std::int64_t cells = c.geometry.cells[axes[n]];
    c.division.value[axes[n]] = c.division.by == Division::By::Patches
                                    ? random.between(1, std::min<std::int64_t>(3, cells))
                                    : random.between((cells + 2) / 3, cells);
  }
}

/// A box inside `within`; `wide`: as much of it as leaves room for a margin.
Box drawBox(const FuzzCase& c, const Box& within, bool wide, Random& random) {
  Box box = within;
  for (int d = 0; d < kAxes; ++d) {
    if (!c.geometry.active(d)) continue;
    const std::int64_t n = within.extent()[d];
    const std::int64_t longest = c.geometry.activeAxes() == 3 ? 4 : 6;
    const std::int64_t size = wide ? std::min(longest, std::max<std::int64_t>(1, n - random.below(3)))
                                   : random.between(1, std::min(longest, n));
    box.lo[d] += random.below(n - size + 1);
    box.hi[d] = box.lo[d] + size;
  }
  return box;
}

void drawLevels(FuzzCase& c, Random& random) {
  const std::int64_t wanted = random.chance(25) ? 0 : random.chance(55) ? 1 : random.chance(75) ? 2 : 3;
  std::vector<Box> within{Box{{}, c.geometry.cells}};
  for (std::int64_t l = 0; l < wanted; ++l) {
    RefinedLevel level;
    level.ratio = l == 0 && random.chance(20) ? 4 : 2;
    Extent ratio{1, 1, 1};
    for (int d = 0; d < kAxes; ++d) {
      if (!c.geometry.active(d)) continue;
      ratio[d] = level.ratio;
      level.patchSize[d] = random.between(2, 6);
    }
    const std::int64_t boxes = random.chance(70) ? 1 : 2;
    for (std::int64_t n = 0; n < boxes; ++n) {
      Box parent = within[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(within.size())))];
      // A margin, so that halos of the new level stay over the level below it.
      for (int d = 0; d < kAxes && l > 0; ++d) {
        const std::int64_t margin = random.between(0, 2);
        if (c.geometry.active(d) && parent.extent()[d] > 2 * margin) {
          parent.lo[d] += margin;
          parent.hi[d] -= margin;
        }
      }
      const Box box = drawBox(c, parent, l + 1 < wanted, random);
      const auto overlaps = [&](const Box& other) { return !intersect(other, box).empty(); };
      if (std::none_of(level.boxes.begin(), level.boxes.end(), overlaps)) level.boxes.push_back(box);
    }
    within.clear();
    for (const Box& box : level.boxes) within.push_back(refine(box, ratio));
    c.refined.push_back(level);
  }
}

void drawConditions(std::array<BoundaryKind, kSides>& conditions, Random& random) {
  const auto first = static_cast<BoundaryKind>(random.below(kBoundaryKinds));
  for (BoundaryKind& kind : conditions)
    kind = random.chance(70) ? first : static_cast<BoundaryKind>(random.below(kBoundaryKinds));
}

/// Of types in which it is exact; limited slopes are not, but come out alike in double. Not where a level
/// lies on a refined one, which often ends too near for it.
Prolongation prolongationOf(const FuzzCase& c, const LabelSpec& label) {
  if (label.type == NumberType::Int32 || label.type == NumberType::Int64) return Prolongation::Constant;
  if (c.refined.size() > 1) return Prolongation::Constant;
  const int draw = label.dirichlet / 3 % 4;
  if (draw < 2) return Prolongation::Constant;
  const bool isDouble = label.type == NumberType::Double || label.type == NumberType::DoubleComponents;
  return draw == 2 && isDouble ? Prolongation::LimitedLinear : Prolongation::Linear;
}

void drawLabels(FuzzCase& c, Random& random) {
  const std::int64_t count = random.between(1, 6);
  for (std::int64_t n = 0; n < count; ++n) {
    LabelSpec label;
    label.centering = random.chance(50) ? Centering::Cell : static_cast<Centering>(random.below(5));
    label.type = random.chance(40) ? NumberType::Double : static_cast<NumberType>(random.below(kNumberTypes));
    label.carried = n == 0 || random.chance(55);
    label.kept = random.chance(25);
    label.dirichlet = static_cast<int>(random.below(100));
    label.prolongation = prolongationOf(c, label);
    drawConditions(label.conditions, random);
    for (int n = 0; n < componentsOf(label.type); ++n) {
      ComponentSpec component;
      drawConditions(component.conditions, random);
      component.odd = random.chance(50);
      if (random.chance(50)) component.part = static_cast<int>(random.between(1, 600));
      component.ofPart = static_cast<BoundaryKind>(random.below(kBoundaryKinds));
      label.components.push_back(component);
    }
    c.labels.push_back(label);
  }
  const std::int64_t reductions = random.below(3);
  for (std::int64_t n = 0; n < reductions; ++n)
    c.reductions.push_back(static_cast<ReductionKind>(random.below(3)));
}

void drawShapes(FuzzCase& c, Random& random) {
  ShapeSpec inOrder;
  inOrder.ranks = random.chance(25) ? 1 : static_cast<int>(random.between(2, 8));
  inOrder.delays = random.chance(60);
  inOrder.checked = random.chance(25);
  inOrder.seed = static_cast<std::uint64_t>(random.below(1'000'000));
  inOrder.reuse = random.chance(75);
  inOrder.scratch = inOrder.seed % 2 == 1;
  ShapeSpec threads;
  threads.ranks = random.chance(40) ? 1 : static_cast<int>(random.between(2, 4));
  threads.threads = static_cast<int>(random.between(1, 3));
  threads.delays = random.chance(50);
  threads.seed = static_cast<std::uint64_t>(random.below(1'000'000));
  threads.checked = random.chance(15);
  threads.reuse = random.chance(75);
  threads.regrids = static_cast<int>(threads.seed % 4);
  threads.scratch = threads.seed / 4 % 2 == 1;
  ShapeSpec cut;
  cut.cuts = static_cast<int>(random.between(1, 3));
  cut.ranks = random.chance(30) ? 1 : static_cast<int>(random.between(2, 8));
  cut.threads = random.chance(60) ? 0 : static_cast<int>(random.between(1, 3));
  cut.delays = random.chance(50);
  cut.seed = static_cast<std::uint64_t>(random.below(1'000'000));
  cut.checked = random.chance(25);
  cut.reuse = random.chance(75);
  cut.regrids = static_cast<int>(random.below(3));
  cut.scratch = random.chance(50);
  c.shapes = {inOrder, threads, cut};
}

}  // namespace

FuzzCase drawCase(std::uint64_t seed, std::int64_t number) {
  Random random(seed * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(number));
  FuzzCase c;
  drawGeometry(c, random);
  drawLevels(c, random);
  drawLabels(c, random);
  c.plans.push_back(drawFirstPlan(c, random));
  const std::int64_t plans = random.between(1, 3);
  for (std::int64_t n = 0; n < plans; ++n) {
    // Half of the further plans have tasks in common with the one before.
    const bool common = n > 0 && random.chance(50);
    c.plans.push_back(common ? drawVariant(c, c.plans.back(), random) : drawPlan(c, random));
  }
  const std::int64_t steps = random.between(1, 4);
  for (std::int64_t n = 0; n < steps; ++n) c.steps.push_back(static_cast<int>(random.between(1, plans)));
  drawShapes(c, random);
  return c;
}

}  // namespace tessera::fuzz
