#include "scheduler/solvers/composite/patch_boxes.hpp"

#include <algorithm>
#include <utility>

#include "grid/refine.hpp"

namespace tessera {
namespace {

/// Of each box its cells, or, along `axis`, the faces on all their borders.
BoxRegions bordersOf(const GridBoxes& grid, int axis) {
  BoxRegions regions;
  for (Box box : grid.boxes) {
    if (axis >= 0 && !box.empty()) ++box.hi[axis];
    regions.push_back({box});
  }
  return regions;
}

BoxCopies between(const GridBoxes& from, const GridBoxes& to, int axis, Transport& transport) {
  return {from, bordersOf(from, axis), to, bordersOf(to, axis), transport};
}

}  // namespace

bool areAligned(const GridBoxes& grid, Extent ratio) {
  return std::all_of(grid.boxes.begin(), grid.boxes.end(), [&](const Box& box) {
    for (int d = 0; d < kAxes; ++d)
      if (box.lo[d] % ratio[d] != 0 || box.hi[d] % ratio[d] != 0) return false;
    return true;
  });
}

GridBoxes aligned(const GridBoxes& grid, Extent ratio, Rank rank) {
  const GridBoxes coarse = coarsened(grid, ratio, rank);
  GridBoxes result = grid;
  for (std::size_t n = 0; n < result.boxes.size(); ++n) result.boxes[n] = refine(coarse.boxes[n], ratio);
  return result;
}

PatchBoxes::PatchBoxes(GridBoxes patches, const GridBoxes& boxes, Transport& transport)
    : grid_(std::move(patches)),
      system_(grid_),
      cells_(between(grid_, boxes, -1, transport)),
      back_(between(boxes, grid_, -1, transport)) {
  for (int axis = 0; axis < kAxes; ++axis) faces_.push_back(between(grid_, boxes, axis, transport));
}

void PatchBoxes::give(GridSystem& boxes) {
  cells_.copy(system_.matrix.sink, boxes.matrix.sink);
  cells_.copy(system_.rightHandSide, boxes.rightHandSide);
  cells_.copy(system_.solution, boxes.solution);
  for (std::size_t axis = 0; axis < kAxes; ++axis)
    faces_[axis].copy(system_.matrix.faces[axis], boxes.matrix.faces[axis]);
}

}  // namespace tessera
