#pragma once

#include <array>

#include "core/kernel.hpp"
#include "grid/generation.hpp"
#include "grid/geometry.hpp"
#include "grid/label.hpp"
#include "taskgraph/linear_system.hpp"
#include "taskgraph/step_plan.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// What conducts through the face between two cells: the harmonic mean, that of two resistances in series.
/// Beyond the domain a conductivity is extrapolated through its value on the face and can come out negative:
/// the other cell's own then counts.
TESSERA_KERNEL inline double throughFace(double lower, double upper) {
  if (!(lower > 0.0)) return upper;
  if (!(upper > 0.0)) return lower;
  return 2.0 * (lower * upper) / (lower + upper);
}

/// Labels for a coefficient on the faces of the axes that are resolved: "NAME_x", "NAME_y", "NAME_z".
FaceCoefficients faceLabels(LabelTable& labels, const Geometry& geometry, const std::string& name,
                            const std::string& unit);

/// Declares the task `name`, which gives faces the means of the cells beside them, Old values of `cells`.
void declareFaceMeans(StepPlan& plan, const std::string& name, Label<double, Cell> cells,
                      const FaceCoefficients& faces);

/// Its body.
TaskBody faceMeans(Label<double, Cell> cells, const FaceCoefficients& faces);

}  // namespace tessera
