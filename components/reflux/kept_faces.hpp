#pragma once

#include "core/geometry/box.hpp"
#include "core/geometry/box_difference.hpp"
#include "core/geometry/index.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {

/// Whether cells of the next finer level lie in or beside the patch, also across a period.
template <class Task>
bool isNearFiner(const Task& task) {
  const Level& level = task.level();
  const auto next = static_cast<std::size_t>(level.number()) + 1;
  if (next >= task.hierarchy().levels().size()) return false;
  const Level& finer = task.hierarchy().levels()[next];
  const Box around = grow(task.interior(), level.effectiveHalo(uniformHalo(1)));
  bool isNear = false;
  forEachImage(imagesOf(level, around), [&](Index period) {
    const Box there = shift(around, Index{} - shiftOf(level, period));
    finer.forEachOverlapping(refine(there, task.refinementRatio()), [&](const Patch&) { isNear = true; });
  });
  return isNear;
}

/// Calls `keep(Box)` with the faces of the patch across `axis` through which refluxing may ask what has
/// passed: the borders of the patch, where its level may end, and all of them where finer cells are near.
/// Calls `rest(Box)` with the others, whose values nobody reads. Disjoint; `faces` are all of the patch.
template <class Task, class Keep, class Rest>
void forEachKeptFace(const Task& task, const Box& faces, int axis, Keep&& keep, Rest&& rest) {
  if (isNearFiner(task)) return keep(faces);
  Box between = faces;
  ++between.lo[axis];
  --between.hi[axis];
  forEachOutside(faces, between, keep);
  if (!between.empty()) rest(between);
}

}  // namespace tessera
