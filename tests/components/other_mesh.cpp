#include "tests/components/other_mesh.hpp"

#include <algorithm>

namespace tessera::test {

OwnedMesh OtherMeshes::draw() {
  OwnedMesh mesh{below(4) == 0 ? first_ : cutAndShuffled(), {}};
  if (below(3) == 0) {
    mesh.owners = distribute(*mesh.hierarchy, ranks_);
    return mesh;
  }
  // Now and then some ranks have nothing.
  const std::size_t busy = 1 + below(static_cast<std::size_t>(ranks_));
  for (std::int64_t id = 0; id < mesh.hierarchy->patchCount(); ++id)
    mesh.owners.push_back(static_cast<Rank>(below(busy)));
  return mesh;
}

/// A third of the time the patches of the given mesh, in another order.
std::shared_ptr<const Hierarchy> OtherMeshes::cutAndShuffled() {
  const bool cuts = below(3) != 0 && patches_ == OtherPatches::Yes;
  std::vector<Level> levels;
  PatchId id = 0;
  for (const Level& level : first_->levels()) {
    std::vector<Box> boxes;
    for (const Patch& patch : level.patches()) boxes.push_back(patch.cells);
    if (cuts) boxes = cut(level);
    if (!cuts || below(2) == 0) std::shuffle(boxes.begin(), boxes.end(), random_);
    std::vector<Patch> patches;
    for (const Box& box : boxes) patches.push_back({id++, level.number(), box});
    levels.emplace_back(level.number(), first_->geometry(), level.domain(), level.ratioToCoarser(),
                        std::move(patches));
  }
  return std::make_shared<const Hierarchy>(first_->geometry(), std::move(levels));
}

/// Joins and cuts, between cells of the next coarser level.
std::vector<Box> OtherMeshes::cut(const Level& level) {
  const Extent grain = level.ratioToCoarser();
  std::vector<Box> boxes;
  for (const Patch& patch : level.patches()) boxes.push_back(patch.cells);
  if (boxes.empty()) return boxes;
  for (std::size_t changes = 2 + below(2 * boxes.size()); changes-- > 0;) {
    const std::size_t n = below(boxes.size());
    if (below(2) == 0) {
      for (std::size_t m = 0; m < boxes.size(); ++m) {
        const Box both = boundingBox(boxes[n], boxes[m]);
        if (m == n || both.volume() != boxes[n].volume() + boxes[m].volume()) continue;
        boxes[n] = both;
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(m));
        break;
      }
      continue;
    }
    const auto axis = static_cast<int>(below(kAxes));
    const std::int64_t grains = boxes[n].extent()[axis] / grain[axis];
    if (grains < 2) continue;
    Box upper = boxes[n];
    upper.lo[axis] +=
        grain[axis] * static_cast<std::int64_t>(1 + below(static_cast<std::size_t>(grains - 1)));
    boxes[n].hi[axis] = upper.lo[axis];
    boxes.push_back(upper);
  }
  return boxes;
}

}  // namespace tessera::test
