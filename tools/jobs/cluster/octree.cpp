#include "tools/jobs/cluster/octree.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::jobs {
namespace {

/// The lower 21 bits of a number, two free places between each.
std::uint64_t spread(std::uint64_t x) {
  x = (x | x << 32) & 0x1f00000000ffffULL;
  x = (x | x << 16) & 0x1f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  return (x | x << 2) & 0x1249249249249249ULL;
}

}  // namespace

Octree::Octree(std::span<const MassPoint> points, std::int32_t leaf) : leaf_(leaf) {
  Real3 low = points[0].at;
  Real3 high = low;
  for (const MassPoint& point : points) {
    for (int axis = 0; axis < kAxes; ++axis) {
      low[axis] = std::min(low[axis], point.at[axis]);
      high[axis] = std::max(high[axis], point.at[axis]);
    }
  }
  const Real3 middle = 0.5 * (low + high);
  const double side = 1.000001 * std::max({high.x - low.x, high.y - low.y, high.z - low.z, 1e-30});
  std::vector<std::uint64_t> keys;
  for (const MassPoint& point : points) {
    std::uint64_t key = 0;
    for (int axis = 0; axis < kAxes; ++axis) {
      const double place = (point.at[axis] - middle[axis]) / side + 0.5;
      key |= spread(static_cast<std::uint64_t>(place * (1 << kLevels))) << axis;
    }
    keys.push_back(key);
  }
  order_.resize(points.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, [&](std::int32_t a, std::int32_t b) {
    const std::uint64_t first = keys[static_cast<std::size_t>(a)];
    const std::uint64_t second = keys[static_cast<std::size_t>(b)];
    return first != second ? first < second : a < b;
  });
  for (const std::int32_t n : order_) {
    points_.push_back(points[static_cast<std::size_t>(n)]);
    keys_.push_back(keys[static_cast<std::size_t>(n)]);
  }
  build(0, static_cast<std::int32_t>(points.size()), 0, middle, side);
}

void Octree::build(std::int32_t begin, std::int32_t end, int level, Real3 middle, double side) {
  const std::size_t number = cells_.size();
  TreeCell cell;
  cell.middle = middle;
  cell.side = side;
  setMoments(cell, begin, end);
  const bool isLeaf = end - begin <= leaf_ || level == kLevels;
  cell.first = begin;
  cell.count = isLeaf ? end - begin : 0;
  cells_.push_back(cell);
  const int shift = 3 * (kLevels - 1 - level);
  for (std::int32_t from = begin; !isLeaf && from < end;) {
    const std::uint64_t child = keys_[static_cast<std::size_t>(from)] >> shift & 7U;
    std::int32_t to = from;
    while (to < end && (keys_[static_cast<std::size_t>(to)] >> shift & 7U) == child) ++to;
    Real3 at = middle;
    for (int axis = 0; axis < kAxes; ++axis)
      at[axis] += (child >> axis & 1U) != 0 ? 0.25 * side : -0.25 * side;
    build(from, to, level + 1, at, 0.5 * side);
    from = to;
  }
  cells_[number].next = static_cast<std::int32_t>(cells_.size());
}

void Octree::setMoments(TreeCell& cell, std::int32_t begin, std::int32_t end) const {
  const std::span<const MassPoint> mine(points_.data() + begin, static_cast<std::size_t>(end - begin));
  for (const MassPoint& point : mine) {
    cell.mean.mass += point.mass;
    cell.mean.at = cell.mean.at + point.mass * point.at;
  }
  cell.mean.at = (1.0 / cell.mean.mass) * cell.mean.at;
  for (const MassPoint& point : mine) {
    const Real3 x = point.at - cell.mean.at;
    const double square = dot(x, x);
    for (int axis = 0; axis < kAxes; ++axis)
      cell.quadrupole[axis] += point.mass * (3.0 * x[axis] * x[axis] - square);
    cell.quadrupole[3] += point.mass * 3.0 * x.x * x.y;
    cell.quadrupole[4] += point.mass * 3.0 * x.x * x.z;
    cell.quadrupole[5] += point.mass * 3.0 * x.y * x.z;
  }
}

}  // namespace tessera::jobs
