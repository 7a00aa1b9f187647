#include "taskgraph/storage/window_groups.hpp"

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

/// A void smaller than this part of the box is not worth a cut.
constexpr std::int64_t kSmallVoid = 64;

std::int64_t volumeOf(std::span<const Box> boxes) {
  return std::accumulate(boxes.begin(), boxes.end(), std::int64_t{0},
                         [](std::int64_t sum, const Box& b) { return sum + b.volume(); });
}

/// Some of the boxes while groups are made.
struct Part {
  std::vector<std::int32_t> members;
  Box owned;   ///< bounding box of the owned boxes
  Box window;  ///< bounding box of the windows
  std::int64_t cells = 0;

  std::int64_t voidCells() const { return owned.volume() - cells; }
};

class Grouping {
 public:
  Grouping(std::span<const Box> owned, std::span<const Box> windows) : owned_(owned), windows_(windows) {}

  Part partOf(std::vector<std::int32_t> members) const {
    Part part;
    for (const std::int32_t m : members) {
      part.owned = boundingBox(part.owned, owned_[at(m)]);
      part.window = boundingBox(part.window, windows_[at(m)]);
      part.cells += owned_[at(m)].volume();
    }
    part.members = std::move(members);
    return part;
  }

  /// The parts into which `part` is best cut, at the least itself.
  std::vector<Part> divide(Part part) const {
    const bool tooMany = part.members.size() > kLargestGroup;
    const bool small = part.voidCells() * kSmallVoid <= part.window.volume();
    if (part.members.size() < 2 || (small && !tooMany)) return {std::move(part)};
    std::vector<std::int32_t> low;
    std::vector<std::int32_t> high;
    if (!cut(part, low, high)) return {std::move(part)};
    std::vector<Part> parts = divide(partOf(std::move(low)));
    std::vector<Part> more = divide(partOf(std::move(high)));
    parts.insert(parts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    std::int64_t cells = 0;
    for (const Part& p : parts) cells += p.window.volume();
    if (cells >= part.window.volume() && !tooMany) return {std::move(part)};
    return parts;
  }

 private:
  static std::size_t at(std::int32_t n) { return static_cast<std::size_t>(n); }

  /// Cuts by the plane through no owned box that leaves the smallest bounding boxes; false: there is none.
  bool cut(const Part& part, std::vector<std::int32_t>& low, std::vector<std::int32_t>& high) const {
    std::int64_t best = -1;
    for (int axis = 0; axis < kAxes; ++axis) {
      std::vector<std::int32_t> sorted = part.members;
      std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
        return owned_[at(a)].lo[axis] < owned_[at(b)].lo[axis];
      });
      std::vector<Box> after(sorted.size());  // bounding box of this one and those behind it
      for (std::size_t n = sorted.size(); n-- > 0;) {
        after[n] = boundingBox(n + 1 < sorted.size() ? after[n + 1] : Box{}, owned_[at(sorted[n])]);
      }
      Box before;
      for (std::size_t n = 0; n + 1 < sorted.size(); ++n) {
        before = boundingBox(before, owned_[at(sorted[n])]);
        if (before.hi[axis] > after[n + 1].lo[axis]) continue;
        const std::int64_t cells = before.volume() + after[n + 1].volume();
        if (best >= 0 && cells >= best) continue;
        best = cells;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(n) + 1;
        low.assign(sorted.begin(), middle);
        high.assign(middle, sorted.end());
      }
    }
    return best >= 0;
  }

  std::span<const Box> owned_;
  std::span<const Box> windows_;
};

/// The borders of boxes along one axis, ascending, each once.
std::vector<std::int64_t> bordersOf(std::span<const Box> boxes, int axis) {
  std::vector<std::int64_t> borders;
  for (const Box& b : boxes) {
    borders.push_back(b.lo[axis]);
    borders.push_back(b.hi[axis]);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

std::size_t positionOf(const std::vector<std::int64_t>& borders, std::int64_t x) {
  return static_cast<std::size_t>(std::lower_bound(borders.begin(), borders.end(), x) - borders.begin());
}

}  // namespace

std::vector<WindowGroup> groupWindows(std::span<const Box> owned, std::span<const Box> windows,
                                      double copies) {
  if (owned.size() < 2) return {};
  const auto alone = static_cast<double>(volumeOf(windows));
  // Distinct cells are at least those owned, so this settles small halos without a closer look.
  if (alone <= copies * static_cast<double>(volumeOf(owned))) return {};
  if (alone <= copies * static_cast<double>(distinctCells(windows))) return {};
  const Grouping grouping(owned, windows);
  std::vector<std::int32_t> all(owned.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<WindowGroup> groups;
  for (Part& part : grouping.divide(grouping.partOf(std::move(all)))) {
    std::int64_t private_ = 0;
    for (const std::int32_t m : part.members) private_ += windows[static_cast<std::size_t>(m)].volume();
    if (part.members.size() < 2 || part.window.volume() >= private_) continue;
    std::sort(part.members.begin(), part.members.end());
    groups.push_back({std::move(part.members), part.window, part.voidCells() == 0});
  }
  std::sort(groups.begin(), groups.end(),
            [](const WindowGroup& a, const WindowGroup& b) { return a.members.front() < b.members.front(); });
  return groups;
}

std::int64_t distinctCells(std::span<const Box> boxes) {
  const std::vector<std::int64_t> xs = bordersOf(boxes, 0);
  const std::vector<std::int64_t> ys = bordersOf(boxes, 1);
  const std::vector<std::int64_t> zs = bordersOf(boxes, 2);
  std::vector<Box> waiting;  // by lower end, the lowest last
  for (const Box& b : boxes) {
    if (!b.empty()) waiting.push_back(b);
  }
  std::sort(waiting.begin(), waiting.end(), [](const Box& a, const Box& b) { return a.lo.k > b.lo.k; });
  std::vector<Box> here;
  std::int64_t cells = 0;
  std::vector<std::int32_t> change;  // of the number of boxes over a tile, summed along both axes below
  for (std::size_t k = 0; k + 1 < zs.size(); ++k) {
    std::erase_if(here, [&](const Box& b) { return b.hi.k <= zs[k]; });
    for (; !waiting.empty() && waiting.back().lo.k <= zs[k]; waiting.pop_back())
      here.push_back(waiting.back());
    change.assign(xs.size() * ys.size(), 0);
    for (const Box& b : here) {
      const std::size_t row[] = {positionOf(ys, b.lo.j) * xs.size(), positionOf(ys, b.hi.j) * xs.size()};
      const std::size_t column[] = {positionOf(xs, b.lo.i), positionOf(xs, b.hi.i)};
      ++change[row[0] + column[0]];
      --change[row[0] + column[1]];
      --change[row[1] + column[0]];
      ++change[row[1] + column[1]];
    }
    std::int64_t area = 0;
    for (std::size_t j = 0; j + 1 < ys.size(); ++j) {
      for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
        std::int32_t& n = change[j * xs.size() + i];
        if (j > 0) n += change[(j - 1) * xs.size() + i];
        if (i > 0) n += change[j * xs.size() + i - 1];
        if (i > 0 && j > 0) n -= change[(j - 1) * xs.size() + i - 1];
        if (n > 0) area += (xs[i + 1] - xs[i]) * (ys[j + 1] - ys[j]);
      }
    }
    cells += area * (zs[k + 1] - zs[k]);
  }
  return cells;
}

}  // namespace tessera
