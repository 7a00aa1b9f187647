#include "tests/graph_fuzz/recut.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace tessera::fuzz {
namespace {

/// Changes the boxes of one level.
class LevelCutter {
 public:
  LevelCutter(const Level& level, bool finest, const std::optional<Box>& window, std::mt19937_64& random)
      : grain_(level.ratioToCoarser()),
        mayDrop_(finest && level.number() > 0),
        window_(window),
        random_(random) {
    for (const Patch& patch : level.patches()) boxes_.push_back(patch.cells);
  }

  std::vector<Box> run() {
    const std::size_t changes = below(boxes_.size() / 4 + 2);
    for (std::size_t n = 0; n < changes; ++n) {
      const std::size_t what = below(8);
      if (what < 3) split();
      if (what >= 3 && what < 6) join();
      if (what >= 6 && mayDrop_ && boxes_.size() > 1) drop();
    }
    if (!window_ && below(6) == 0) std::shuffle(boxes_.begin(), boxes_.end(), random_);
    return std::move(boxes_);
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  bool mayChange(const Box& box) const { return !window_ || window_->contains(box); }

  void split() {
    const std::size_t n = below(boxes_.size());
    if (!mayChange(boxes_[n])) return;
    const int axis = static_cast<int>(below(kAxes));
    const std::int64_t grains = boxes_[n].extent()[axis] / grain_[axis];
    if (grains < 2) return;
    const auto left = static_cast<std::int64_t>(1 + below(static_cast<std::size_t>(grains - 1)));
    Box upper = boxes_[n];
    upper.lo[axis] += left * grain_[axis];
    boxes_[n].hi[axis] = upper.lo[axis];
    boxes_.insert(below(2) == 0 ? boxes_.end() : boxes_.begin() + static_cast<std::ptrdiff_t>(n) + 1, upper);
  }

  void join() {
    const std::size_t n = below(boxes_.size());
    for (std::size_t m = 0; m < boxes_.size(); ++m) {
      const Box both = boundingBox(boxes_[n], boxes_[m]);
      if (m == n || !mayChange(both) || both.volume() != boxes_[n].volume() + boxes_[m].volume()) continue;
      boxes_[n] = both;
      boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(m));
      return;
    }
  }

  void drop() {
    const std::size_t n = below(boxes_.size());
    if (mayChange(boxes_[n])) boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  Extent grain_;
  bool mayDrop_;
  std::optional<Box> window_;
  std::mt19937_64& random_;
  std::vector<Box> boxes_;
};

std::uint64_t mixed(std::uint64_t value, std::uint64_t more) {
  value = (value ^ more) * 0xBF58476D1CE4E5B9ULL;
  return value ^ (value >> 31);
}

}  // namespace

std::shared_ptr<const Hierarchy> recut(const Hierarchy& mesh, std::uint64_t seed,
                                       const std::optional<Box>& window) {
  std::mt19937_64 random(seed);
  std::vector<Level> levels;
  PatchId id = 0;
  for (const Level& level : mesh.levels()) {
    std::vector<Patch> patches;
    const bool finest = level.number() + 1 == static_cast<LevelId>(mesh.levels().size());
    for (const Box& box : LevelCutter(level, finest, window, random).run())
      patches.push_back({id++, level.number(), box});
    levels.emplace_back(level.number(), mesh.geometry(), level.domain(), level.ratioToCoarser(),
                        std::move(patches));
  }
  return std::make_shared<const Hierarchy>(mesh.geometry(), std::move(levels));
}

RankMap ownersByPlace(const Hierarchy& mesh, int ranks, std::uint64_t seed, std::uint64_t epoch) {
  RankMap owners;
  for (std::int64_t id = 0; id < mesh.patchCount(); ++id) {
    const Patch& patch = mesh.patch(id);
    std::uint64_t hash = mixed(seed, static_cast<std::uint64_t>(patch.level));
    for (int d = 0; d < kAxes; ++d) {
      hash = mixed(hash, static_cast<std::uint64_t>(patch.cells.lo[d]));
      hash = mixed(hash, static_cast<std::uint64_t>(patch.cells.hi[d]));
    }
    const std::uint64_t moved = mixed(hash, epoch + 1);
    owners.push_back(
        static_cast<Rank>((moved % 8 == 0 ? moved / 8 : hash) % static_cast<std::uint64_t>(ranks)));
  }
  return owners;
}

}  // namespace tessera::fuzz
