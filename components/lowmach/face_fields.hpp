#pragma once

#include "components/lowmach/flow_labels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

// Labels of faces across an axis that is known when the body runs. The fields of all of them have one type.

template <class Task>
auto readFaces(const Task& task, Generation generation, const FlowFaces& faces, int axis) {
  if (axis == 0) return task.read(generation, faces.x);
  if (axis == 1) return task.read(generation, faces.y);
  return task.read(generation, faces.z);
}
template <class Task>
auto writeFaces(const Task& task, const FlowFaces& faces, int axis) {
  if (axis == 0) return task.write(faces.x);
  if (axis == 1) return task.write(faces.y);
  return task.write(faces.z);
}
template <class Task>
auto modifyFaces(const Task& task, const FlowFaces& faces, int axis) {
  if (axis == 0) return task.modify(faces.x);
  if (axis == 1) return task.modify(faces.y);
  return task.modify(faces.z);
}
/// All faces of the patch across an axis.
template <class Task>
Box facesAcross(const Task& task, const FlowFaces& faces, int axis) {
  if (axis == 0) return task.interior(faces.x);
  if (axis == 1) return task.interior(faces.y);
  return task.interior(faces.z);
}

/// Calls `visit(side, Box)` for the faces of the patch that lie on the sides of the domain across an axis.
template <class Task, class Visit>
void forEachSideAcross(const Task& task, const FlowFaces& faces, int axis, Visit&& visit) {
  const Box all = facesAcross(task, faces, axis);
  const Box& domain = task.level().domain();
  if (all.lo[axis] == domain.lo[axis]) {
    Box low = all;
    low.hi[axis] = all.lo[axis] + 1;
    visit(sideOf(axis, false), low);
  }
  if (all.hi[axis] == domain.hi[axis] + 1) {
    Box high = all;
    high.lo[axis] = all.hi[axis] - 1;
    visit(sideOf(axis, true), high);
  }
}

/// The unit step along each axis and 1 over the spacing; of an axis of one cell they stay as they are.
template <class Task>
void setAxes(const Task& task, const FlowParams& params, Index (&e)[kAxes], double (&inverse)[kAxes]) {
  for (int d = 0; d < kAxes; ++d) {
    if (!params.active[static_cast<std::size_t>(d)]) continue;
    e[d] = unit(d);
    inverse[d] = task.inverseSpacing()[d];
  }
}

/// The size of a cell of the level in those of level 0: what it counts in sums over all levels.
template <class Task>
double sizeOfCell(const Task& task) {
  return static_cast<double>(task.hierarchy().level(0).domain().volume()) /
         static_cast<double>(task.level().domain().volume());
}

/// A number at cells that may come from a field, with a factor, or from none: then `factor` is 0, and any
/// field that may be read there stands in.
template <class Field>
struct NumberOrField {
  Field field;
  double base = 0.0;
  double factor = 0.0;

  TESSERA_KERNEL double operator()(Index x) const { return base + factor * field(x); }
  /// At the face below x.
  TESSERA_KERNEL double atFace(Index x, Index e) const {
    return base + factor * (0.5 * (field(x - e) + field(x)));
  }
};

/// 1 in cells with fluid and 0 in solid ones; where there are none, `standIn` is any field that may be read
/// there.
template <class Task, class Field>
NumberOrField<Field> fluidOf(const Task& task, const FlowParams& params, Generation generation,
                             const Field& standIn) {
  if (!params.solids.areThere) return {standIn, 1.0, 0.0};
  return {task.read(generation, params.solids.fluid), 0.0, 1.0};
}
/// The same of faces across an axis: 1 where they are open.
template <class Task, class Field>
NumberOrField<Field> openFaces(const Task& task, const FlowParams& params, Generation generation, int axis,
                               const Field& standIn) {
  if (!params.solids.areThere) return {standIn, 1.0, 0.0};
  return {readFaces(task, generation, params.solids.open, axis), 0.0, 1.0};
}
/// The viscosity of eddies times `factor`, or 0.
template <class Task, class Field>
NumberOrField<Field> eddiesOf(const Task& task, const FlowParams& params, Generation generation,
                              const Field& standIn, double factor) {
  if (!params.eddies.isThere()) return {standIn, 0.0, 0.0};
  return {task.read(generation, params.eddies.viscosity), 0.0, factor};
}

/// The density at cells; where it does not vary, `standIn` is any field that may be read there.
template <class Task, class Field>
NumberOrField<Field> densityOf(const Task& task, const FlowParams& params, Generation generation,
                               const FlowState& state, const Field& standIn) {
  if (!params.densityVaries) return {standIn, params.density, 0.0};
  return {task.read(generation, state.density), 0.0, 1.0};
}

}  // namespace tessera
