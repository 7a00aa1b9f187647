#include "components/stencils/face_coefficients.hpp"

#include <string>

namespace tessera {

FaceCoefficients faceLabels(LabelTable& labels, const Geometry& geometry, const std::string& name,
                            const std::string& unit) {
  FaceCoefficients faces;
  if (geometry.active(0)) faces.x = labels.variable<double, FaceX>(name + "_x", unit);
  if (geometry.active(1)) faces.y = labels.variable<double, FaceY>(name + "_y", unit);
  if (geometry.active(2)) faces.z = labels.variable<double, FaceZ>(name + "_z", unit);
  return faces;
}

void declareFaceMeans(StepPlan& plan, const std::string& name, Label<double, Cell> cells,
                      const FaceCoefficients& faces) {
  TaskBuilder task = plan.task(name);
  task.reads(Old, cells, faceHalo(1)).withoutDt();
  if (faces.x.id >= 0) task.writes(faces.x);
  if (faces.y.id >= 0) task.writes(faces.y);
  if (faces.z.id >= 0) task.writes(faces.z);
  task.runs(faceMeans(cells, faces));
}

}  // namespace tessera
