#include "core/geometry/index.hpp"

namespace tessera {

std::string asText(Index x) {
  return "(" + std::to_string(x.i) + ", " + std::to_string(x.j) + ", " + std::to_string(x.k) + ")";
}

}  // namespace tessera
