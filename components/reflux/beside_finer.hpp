#pragma once

#include <optional>

#include "core/geometry/box_difference.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {

/// The coarse indices whose first finer index lies in a box of finer ones: each of them is that of one
/// patch, also where patches meet inside of a coarse cell.
inline Box firstCornersIn(const Box& fine, Extent ratio) {
  const Index last = ratio - Index{1, 1, 1};
  return {coarsen(fine.lo + last, ratio), coarsen(fine.hi + last, ratio)};
}

/// Calls `visit(Box)` with uncovered cells of the patch that have a covered one as the next along `axis`, on
/// the upper side or on the lower one; disjoint. The covered cells may lie in other patches, and across a
/// period.
template <class Task, class Visit>
void forEachBesideFiner(const Task& task, int axis, bool upper, Visit&& visit) {
  const Level& level = task.level();
  const Level& finer = task.hierarchy().level(level.number() + 1);
  const Extent ratio = task.refinementRatio();
  const Index e = unit(axis);
  const Index towards = upper ? e : Index{} - e;
  task.forEachUncovered([&](const Box& cells) {
    const Box beyond = shift(cells, towards);
    forEachImage(imagesOf(level, beyond), [&](Index period) {
      const Index by = shiftOf(level, period);
      const Box there = shift(beyond, Index{} - by);
      finer.forEachOverlapping(refine(there, ratio), [&](const Patch& fine) {
        const Box covered = intersect(there, firstCornersIn(fine.cells, ratio));
        if (!covered.empty()) visit(shift(covered, by - towards));
      });
    });
  });
}

/// Calls `visit(Box)` with those of some faces of the patch that finer faces lie on, also where finer patches
/// end and across a period. Faces between two finer patches come with both.
template <Centering C, class Task, class Visit>
void forEachCoveredFace(const Task& task, const Box& faces, Visit&& visit) {
  const auto next = static_cast<std::size_t>(task.level().number()) + 1;
  if (next >= task.hierarchy().levels().size()) return;
  const Extent ratio = task.refinementRatio();
  forEachClosedBox(task.hierarchy().levels()[next], C, refine(faces, ratio), [&](const Box& fine) {
    const Box covered = intersect(faces, firstCornersIn(fine, ratio));
    if (!covered.empty()) visit(covered);
  });
}

namespace detail {
/// By cutting out one finer patch after the other: needs no memory, which a task shall not ask for.
template <Centering C, class Task, class Visit>
void visitUncoveredFaces(const Task& task, const Box& part, Visit& visit) {
  std::optional<Box> covered;
  forEachCoveredFace<C>(task, part, [&](const Box& some) {
    if (!covered) covered = some;
  });
  if (!covered) return visit(part);
  forEachOutside(part, *covered, [&](const Box& rest) { visitUncoveredFaces<C>(task, rest, visit); });
}
}  // namespace detail

/// Calls `visit(Box)` for the faces that count for this patch, where sums over the faces of all levels shall
/// have the finest ones of each place.
template <Centering C, class Task, class Visit>
void forEachUncoveredFace(const Task& task, Label<double, C> label, Visit&& visit) {
  task.forEachOwned(label, [&](const Box& owned) { detail::visitUncoveredFaces<C>(task, owned, visit); });
}

}  // namespace tessera
