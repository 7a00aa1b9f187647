#pragma once

#include <optional>

#include "core/geometry/box_difference.hpp"
#include "grid/beyond_level.hpp"
#include "grid/hierarchy.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {

namespace detail {
/// By cutting out one patch of the level after the other: needs no memory, which a task shall not ask for.
template <class On, class Beyond>
void visitBesideLevel(const Level& level, const Box& part, On& on, Beyond& beyond) {
  std::optional<Box> there;
  forEachImage(imagesOf(level, part), [&](Index period) {
    const Index by = shiftOf(level, period);
    level.forEachOverlapping(shift(part, Index{} - by), [&](const Patch& patch) {
      if (!there) there = intersect(part, shift(patch.cells, by));
    });
  });
  if (!there) return beyond(part);
  on(*there);
  forEachOutside(part, *there, [&](const Box& rest) { visitBesideLevel(level, rest, on, beyond); });
}
}  // namespace detail

/// Calls `beyond(Box)` with those cells one deep beyond a side of the patch where its level has ended and the
/// next coarser one goes on, and `on(Box)` with the others: cells of the level, or beyond the domain.
template <class Task, class On, class Beyond>
void forEachBesidePatch(const Task& task, int axis, bool high, On&& on, Beyond&& beyond) {
  const Level& level = task.level();
  Box layer = task.interior();
  if (high) {
    layer.lo[axis] = layer.hi[axis]++;
  } else {
    layer.hi[axis] = layer.lo[axis]--;
  }
  const bool isInDomain =
      layer.lo[axis] >= level.domain().lo[axis] && layer.hi[axis] <= level.domain().hi[axis];
  if (level.number() == 0 || !(isInDomain || level.geometry().wraps(axis))) return on(layer);
  detail::visitBesideLevel(level, layer, on, beyond);
}

/// Calls `on(Box)` with the faces of the patch across `axis`, but for those where its level ends: of these
/// `beyond(Box, high)` gets the cells that lie beyond them.
template <class Task, class On, class Beyond>
void forEachFaceOfLevel(const Task& task, const Box& faces, int axis, On&& on, Beyond&& beyond) {
  if (task.level().number() == 0) return on(faces);
  Box between = faces;
  ++between.lo[axis];
  --between.hi[axis];
  if (!between.empty()) on(between);
  for (const bool high : {false, true}) {
    const Index toFace = high ? Index{} : unit(axis);
    forEachBesidePatch(
        task, axis, high, [&](const Box& cells) { on(shift(cells, toFace)); },
        [&](const Box& cells) { beyond(cells, high); });
  }
}

/// How the level of the patch lies in the next coarser one.
template <class Task>
Refinement refinementBelow(const Task& task) {
  const Level& level = task.level();
  Refinement r{level.ratioToCoarser(), task.hierarchy().level(level.number() - 1).domain()};
  for (int d = 0; d < kAxes; ++d) {
    r.wraps[d] = level.geometry().wraps(d) ? 1 : 0;
    r.active[d] = level.geometry().active(d) ? 1 : 0;
  }
  return r;
}

}  // namespace tessera
