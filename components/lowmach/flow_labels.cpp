#include "components/lowmach/flow_labels.hpp"

namespace tessera {

FlowFaces flowFaces(LabelTable& labels, const Geometry& geometry, const std::string& name,
                    const std::string& unit) {
  FlowFaces faces;
  if (geometry.active(0)) faces.x = labels.variable<double, FaceX>(name + "_x", unit);
  if (geometry.active(1)) faces.y = labels.variable<double, FaceY>(name + "_y", unit);
  if (geometry.active(2)) faces.z = labels.variable<double, FaceZ>(name + "_z", unit);
  return faces;
}

}  // namespace tessera
