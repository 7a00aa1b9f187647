#include "datawarehouse/archive/field_output.hpp"

namespace tessera {

Box valueBox(const Box& cells, Centering centering) {
  switch (centering) {
    case Centering::Cell:
      return cells;
    case Centering::Node:
      return {cells.lo, cells.hi + Index{1, 1, 1}};
    case Centering::FaceX:
      return {cells.lo, cells.hi + ex};
    case Centering::FaceY:
      return {cells.lo, cells.hi + ey};
    case Centering::FaceZ:
      return {cells.lo, cells.hi + ez};
  }
  return cells;
}

}  // namespace tessera
