#include "scheduler/solvers/grid_boxes.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// Joins neighbours along one axis; the boxes that join follow one another once sorted with that axis last.
std::vector<Box> joinedAlong(int axis, std::vector<Box> boxes) {
  const int a = (axis + 1) % kAxes;
  const int b = (axis + 2) % kAxes;
  const auto key = [&](const Box& box) {
    return std::array{box.lo[a], box.hi[a], box.lo[b], box.hi[b], box.lo[axis]};
  };
  std::sort(boxes.begin(), boxes.end(), [&](const Box& x, const Box& y) { return key(x) < key(y); });
  std::vector<Box> joined;
  for (const Box& box : boxes) {
    Box* last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && last->lo[a] == box.lo[a] && last->hi[a] == box.hi[a] && last->lo[b] == box.lo[b] &&
        last->hi[b] == box.hi[b] && last->hi[axis] == box.lo[axis]) {
      last->hi[axis] = box.hi[axis];
    } else {
      joined.push_back(box);
    }
  }
  return joined;
}

void addBoxes(GridBoxes& grid, const std::vector<Box>& boxes, Rank owner, Rank rank) {
  for (const Box& box : boxes) {
    if (owner == rank) grid.own.push_back(grid.boxes.size());
    grid.boxes.push_back(box);
    grid.owners.push_back(owner);
  }
}

}  // namespace

Halo GridBoxes::layer() const {
  // Rows keep a layer in any case, so that the loops along x have one form. Above there are two: the side of
  // a coarser level may be two faces from a box that has the first cell of the last coarse one, and not the
  // second.
  const Index lower{1, active[1] ? 1 : 0, active[2] ? 1 : 0};
  return {lower, 2 * lower};
}

Box GridBoxes::withSides(const Box& box) const {
  Box owned = box;
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    if (active[axis] && !wraps[axis] && !box.empty() && box.hi[d] == domain.hi[d]) ++owned.hi[d];
  }
  return owned;
}

Box GridBoxes::inside(const Box& box) const {
  Box inner = box;
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    if (!active[axis]) continue;
    if (wraps[axis] || box.lo[d] > domain.lo[d]) ++inner.lo[d];
    if (wraps[axis] || box.hi[d] < domain.hi[d]) --inner.hi[d];
  }
  return inner;
}

std::vector<Index> GridBoxes::images() const {
  std::vector<Index> steps;
  const Extent n = domain.extent();
  const Index most{wraps[0] ? 1 : 0, wraps[1] ? 1 : 0, wraps[2] ? 1 : 0};
  for (std::int64_t k = -most.k; k <= most.k; ++k) {
    for (std::int64_t j = -most.j; j <= most.j; ++j) {
      for (std::int64_t i = -most.i; i <= most.i; ++i) steps.push_back({i * n.i, j * n.j, k * n.k});
    }
  }
  return steps;
}

std::vector<Box> mergedBoxes(std::vector<Box> boxes) {
  for (std::size_t before = boxes.size() + 1; before > boxes.size();) {
    before = boxes.size();
    for (int axis = 0; axis < kAxes; ++axis) boxes = joinedAlong(axis, std::move(boxes));
  }
  return boxes;
}

GridBoxes gridBoxes(const Level& level, const RankMap& owners, Rank rank) {
  GridBoxes grid;
  grid.domain = level.domain();
  for (int d = 0; d < kAxes; ++d) {
    grid.active[static_cast<std::size_t>(d)] = level.geometry().active(d);
    grid.wraps[static_cast<std::size_t>(d)] = level.geometry().active(d) && level.geometry().wraps(d);
  }
  std::vector<std::pair<Rank, Box>> patches;
  for (const Patch& patch : level.patches())
    patches.emplace_back(owners[static_cast<std::size_t>(patch.id)], patch.cells);
  std::stable_sort(patches.begin(), patches.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t n = 0; n < patches.size();) {
    const Rank owner = patches[n].first;
    std::vector<Box> boxes;
    for (; n < patches.size() && patches[n].first == owner; ++n) boxes.push_back(patches[n].second);
    addBoxes(grid, mergedBoxes(std::move(boxes)), owner, rank);
  }
  return grid;
}

GridBoxes coarsened(const GridBoxes& fine, Extent ratio, Rank rank) {
  const auto up = [&](Index x) {
    for (int d = 0; d < kAxes; ++d) x[d] = (x[d] + ratio[d] - 1) / ratio[d];
    return x;
  };
  GridBoxes coarse;
  coarse.device = fine.device;
  coarse.active = fine.active;
  coarse.wraps = fine.wraps;
  coarse.domain = {{}, up(fine.domain.hi)};
  for (std::size_t n = 0; n < fine.boxes.size(); ++n)
    addBoxes(coarse, {Box{up(fine.boxes[n].lo), up(fine.boxes[n].hi)}}, fine.owners[n], rank);
  return coarse;
}

GridBoxes replicated(const GridBoxes& boxes, Rank rank) {
  GridBoxes whole = boxes;
  whole.boxes = {boxes.domain};
  whole.owners = {rank};
  whole.own = {0};
  return whole;
}

}  // namespace tessera
