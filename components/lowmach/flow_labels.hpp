#pragma once

#include <array>
#include <cstddef>

#include "core/geometry/index.hpp"
#include "grid/generation.hpp"
#include "grid/geometry.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// A number on the faces across each resolved axis. Labels of axes of one cell are not made.
struct FlowFaces {
  Label<double, FaceX> x;
  Label<double, FaceY> y;
  Label<double, FaceZ> z;
};

/// Calls `visit(axis, label)` for the axes that are resolved.
template <class Visit>
void forEachAxis(const FlowFaces& faces, Visit&& visit) {
  if (faces.x.id >= 0) visit(0, faces.x);
  if (faces.y.id >= 0) visit(1, faces.y);
  if (faces.z.id >= 0) visit(2, faces.z);
}

/// The labels "NAME_x", "NAME_y", "NAME_z" of the resolved axes.
FlowFaces flowFaces(LabelTable& labels, const Geometry& geometry, const std::string& name,
                    const std::string& unit);

/// What the flow is at one moment: at the begin or the end of a step, or at a stage of it.
struct FlowState {
  FlowFaces velocity;
};

/// One stage of a Runge-Kutta method: `to` = ofOld * Old + ofStage * (what a step of forward Euler makes of
/// `from`), and then the part of it that has the divergence asked for.
struct FlowStage {
  Generation generation = Generation::Old;  ///< of `from`
  FlowState from;
  FlowState to;
  double ofOld = 0.0;
  double ofStage = 1.0;
};

/// What the sides of the domain are to the velocity across them.
enum class FlowSide {
  Closed,   ///< nothing passes
  Given,    ///< the deck says what passes
  Open,     ///< the pressure is given
  Periodic  ///< or of an axis of one cell
};

struct FlowParams {
  std::array<bool, kAxes> active{};  ///< axes of more than one cell
  std::array<FlowSide, kSides> sides{};
  bool limited = false;  ///< momentum is carried by limited slopes
  double density = 1.0;
  double viscosity = 0.0;
  Real3 gravity;
  bool hasForce = false;
  FlowFaces force;  ///< per unit of volume
};

/// Layers of a halo that reach `layers` beyond the outermost borders of a patch, also along the axis where
/// the upper border is its own.
constexpr HaloClause aroundFaces(std::int64_t layers) { return halo(layers, layers + 1); }

/// Adds the reads of all faces to a task.
inline void readsFaces(TaskBuilder& task, Generation generation, const FlowFaces& faces,
                       const HaloClause& clause) {
  forEachAxis(faces, [&](int, auto label) { task.reads(generation, label, clause); });
}
inline void readsFaces(TaskBuilder& task, Generation generation, const FlowFaces& faces) {
  forEachAxis(faces, [&](int, auto label) { task.reads(generation, label); });
}
inline void writesFaces(TaskBuilder& task, const FlowFaces& faces) {
  forEachAxis(faces, [&](int, auto label) { task.writes(label); });
}

}  // namespace tessera
