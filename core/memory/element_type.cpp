#include "core/memory/element_type.hpp"

namespace tessera {

std::string asText(ElementType type) {
  std::string name;
  switch (type.scalar) {
    case Scalar::Float32:
      name = "float";
      break;
    case Scalar::Float64:
      name = "double";
      break;
    case Scalar::Int32:
      name = "int32";
      break;
    case Scalar::Int64:
      name = "int64";
      break;
  }
  if (type.order == NumberOrder::Apart) return std::to_string(type.components) + " components of " + name;
  return type.components == 1 ? name : name + "[" + std::to_string(type.components) + "]";
}

std::string asText(Centering centering) {
  switch (centering) {
    case Centering::Cell:
      return "cell";
    case Centering::Node:
      return "node";
    case Centering::FaceX:
      return "face x";
    case Centering::FaceY:
      return "face y";
    case Centering::FaceZ:
      return "face z";
  }
  return "unknown";
}

}  // namespace tessera
