#include "scheduler/solvers/layer_exchange.hpp"

namespace tessera {
namespace {

/// What of a grid's numbers the owner of a box has.
Box ownedPart(const GridBoxes& grid, const Box& box, LayerPart part) {
  return part == LayerPart::WithSides ? grid.withSides(box) : box;
}

/// The cells around a box that are wanted, also around an empty one.
std::vector<Box> layerOf(const GridBoxes& grid, const Box& box, LayerPart part) {
  if (part != LayerPart::Faces) return subtract(grow(box, grid.layer()), ownedPart(grid, box, part));
  std::vector<Box> faces;
  for (int d = 0; d < kAxes; ++d) {
    if (!grid.active[static_cast<std::size_t>(d)]) continue;
    Box low = box;
    low.hi[d] = box.lo[d];
    --low.lo[d];
    Box high = box;
    high.lo[d] = box.hi[d];
    ++high.hi[d];
    faces.push_back(low);
    faces.push_back(high);
  }
  return faces;
}

BoxRegions given(const GridBoxes& grid, LayerPart part) {
  BoxRegions regions;
  for (const Box& box : grid.boxes) regions.push_back({ownedPart(grid, box, part)});
  return regions;
}

BoxRegions wanted(const GridBoxes& grid, LayerPart part) {
  BoxRegions regions;
  for (const Box& box : grid.boxes) regions.push_back(layerOf(grid, box, part));
  return regions;
}

}  // namespace

LayerExchange::LayerExchange(const GridBoxes& grid, LayerPart part, Transport& transport)
    : copies_(grid, given(grid, part), grid, wanted(grid, part), transport) {}

}  // namespace tessera
