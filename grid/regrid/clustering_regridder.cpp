#include <algorithm>
#include <cstdlib>

#include "grid/patch.hpp"
#include "grid/regrid/regridder.hpp"

namespace tessera {
namespace {

using Blocks = std::vector<Index>;
using Cuts = std::vector<std::int64_t>;  ///< a block begins a new part, counted from the lower end

Box boxAround(const Blocks& blocks) {
  Box box;
  for (const Index& block : blocks) box = boundingBox(box, {block, block + Index{1, 1, 1}});
  return box;
}

/// How many flagged blocks each plane across an axis has.
std::vector<std::int64_t> planesOf(const Blocks& blocks, const Box& box, int axis) {
  std::vector<std::int64_t> planes(static_cast<std::size_t>(box.extent()[axis]), 0);
  for (const Index& block : blocks) ++planes[static_cast<std::size_t>(block[axis] - box.lo[axis])];
  return planes;
}

/// Of places between 0 and `length`, doubled so that they are whole, the one nearest to the middle; both
/// where two mirror one another, so that no side is preferred.
class NearestToMiddle {
 public:
  explicit NearestToMiddle(std::int64_t length) : length_(length) {}

  void look(std::int64_t doubledPlace, std::int64_t cut) {
    const std::int64_t distance = std::abs(doubledPlace - length_);
    if (!cuts_.empty() && distance > distance_) return;
    if (cuts_.empty() || distance < distance_) cuts_.clear();
    distance_ = distance;
    cuts_.push_back(cut);
  }
  void forget() { cuts_.clear(); }
  Cuts cuts() const { return cuts_; }

 private:
  std::int64_t length_;
  std::int64_t distance_ = 0;
  Cuts cuts_;
};

/// Where no block of a plane is flagged: the empty plane may be of either part.
Cuts holesOf(const std::vector<std::int64_t>& planes) {
  NearestToMiddle nearest(static_cast<std::int64_t>(planes.size()));
  for (std::size_t n = 1; n + 1 < planes.size(); ++n) {
    const auto place = static_cast<std::int64_t>(n);
    if (planes[n] == 0) nearest.look(2 * place + 1, place);
  }
  return nearest.cuts();
}

/// Where the second difference of the planes changes its sign the most.
Cuts inflectionsOf(const std::vector<std::int64_t>& planes) {
  const auto second = [&](std::size_t n) { return planes[n - 1] - 2 * planes[n] + planes[n + 1]; };
  NearestToMiddle nearest(static_cast<std::int64_t>(planes.size()));
  std::int64_t most = 0;
  for (std::size_t n = 1; n + 2 < planes.size(); ++n) {
    const std::int64_t below = second(n);
    const std::int64_t above = second(n + 1);
    const std::int64_t change = std::abs(above - below);
    if (below * above >= 0 || change < most) continue;
    if (change > most) nearest.forget();
    most = change;
    const auto cut = static_cast<std::int64_t>(n + 1);
    nearest.look(2 * cut, cut);
  }
  return nearest.cuts();
}

Cuts middleOf(std::int64_t length) {
  if (length % 2 == 0) return {length / 2};
  return {length / 2, length / 2 + 1};
}

/// From the longest to the shortest; of equal ones x first.
std::array<int, kAxes> axesByLength(const Box& box) {
  std::array<int, kAxes> axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return box.extent()[a] > box.extent()[b]; });
  return axes;
}

struct Cut {
  int axis = 0;
  Cuts at;
};

Cut findCut(const Blocks& blocks, const Box& box) {
  const std::array<int, kAxes> axes = axesByLength(box);
  for (const auto find : {holesOf, inflectionsOf}) {
    for (const int axis : axes) {
      const Cuts cuts = find(planesOf(blocks, box, axis));
      if (!cuts.empty()) return {axis, cuts};
    }
  }
  return {axes[0], middleOf(box.extent()[axes[0]])};
}

class Clusters {
 public:
  explicit Clusters(double efficiency) : efficiency_(efficiency) {}

  void add(const Blocks& blocks) {
    if (blocks.empty()) return;
    const Box box = boxAround(blocks);
    if (static_cast<double>(blocks.size()) >= efficiency_ * static_cast<double>(box.volume())) {
      boxes_.push_back(box);
      return;
    }
    const Cut cut = findCut(blocks, box);
    std::vector<Blocks> parts(cut.at.size() + 1);
    for (const Index& block : blocks) {
      const std::int64_t place = block[cut.axis] - box.lo[cut.axis];
      const auto part = std::upper_bound(cut.at.begin(), cut.at.end(), place) - cut.at.begin();
      parts[static_cast<std::size_t>(part)].push_back(block);
    }
    for (const Blocks& part : parts) add(part);
  }

  std::vector<Box> take() {
    std::sort(boxes_.begin(), boxes_.end(), beforeByPosition);
    return std::move(boxes_);
  }

 private:
  double efficiency_;
  std::vector<Box> boxes_;
};

/// The ends of pieces of nearly equal length, mirrored about the middle.
Cuts mirroredPieces(std::int64_t length, std::int64_t longest) {
  std::int64_t pieces = (length - 1) / longest + 1;
  if (length % 2 != 0 && pieces % 2 == 0) ++pieces;
  const std::int64_t each = length / pieces;
  const std::int64_t rest = length % pieces;  // of the same parity as the odd piece in the middle
  const std::int64_t outer = rest / 2;
  Cuts ends{0};
  for (std::int64_t n = 0; n < pieces; ++n) {
    const bool isOuter = n < outer || n >= pieces - outer;
    const bool isMiddle = rest % 2 != 0 && n == pieces / 2;
    ends.push_back(ends.back() + each + (isOuter || isMiddle ? 1 : 0));
  }
  return ends;
}

class ClusteringRegridder final : public Regridder {
 public:
  explicit ClusteringRegridder(double efficiency) : efficiency_(efficiency) {}

  std::vector<Box> regionOf(BlockSet& flagged) const override {
    const std::span<const Index> blocks = flagged.blocks();
    Clusters clusters(efficiency_);
    clusters.add(Blocks(blocks.begin(), blocks.end()));
    return clusters.take();
  }

  std::vector<Box> patchesOf(const Box& region, Extent longest) const override {
    Cuts ends[kAxes];
    for (int d = 0; d < kAxes; ++d) ends[d] = mirroredPieces(region.extent()[d], longest[d]);
    std::vector<Box> patches;
    for (std::size_t k = 0; k + 1 < ends[2].size(); ++k) {
      for (std::size_t j = 0; j + 1 < ends[1].size(); ++j) {
        for (std::size_t i = 0; i + 1 < ends[0].size(); ++i) {
          patches.push_back({region.lo + Index{ends[0][i], ends[1][j], ends[2][k]},
                             region.lo + Index{ends[0][i + 1], ends[1][j + 1], ends[2][k + 1]}});
        }
      }
    }
    return patches;
  }

 private:
  double efficiency_;
};

}  // namespace

std::unique_ptr<Regridder> makeClusteringRegridder(double efficiency) {
  return std::make_unique<ClusteringRegridder>(efficiency);
}

}  // namespace tessera
