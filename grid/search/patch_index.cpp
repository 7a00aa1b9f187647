#include "grid/search/patch_index.hpp"

#include <numeric>

namespace tessera {
namespace {

constexpr double kMostBucketsAPatch = 16.0;

template <class Visit>
void forEachBucket(Index first, Index last, Visit&& visit) {
  for (std::int64_t k = first.k; k <= last.k; ++k) {
    for (std::int64_t j = first.j; j <= last.j; ++j) {
      for (std::int64_t i = first.i; i <= last.i; ++i) visit(Index{i, j, k});
    }
  }
}

}  // namespace

PatchIndex::PatchIndex(std::span<const Patch> patches) {
  if (patches.empty()) return;
  boxes_.reserve(patches.size());
  Extent total{0, 0, 0};
  for (const Patch& patch : patches) {
    boxes_.push_back(patch.cells);
    bounds_ = boundingBox(bounds_, patch.cells);
    total = total + patch.cells.extent();
  }
  sparse_ = !chooseLattice(total);
  if (sparse_) {
    lattice_ = false;
    tree_ = BoxTree(boxes_);
  } else {
    fillBuckets();
  }
}

bool PatchIndex::chooseLattice(Extent total) {
  const auto count = static_cast<std::int64_t>(boxes_.size());
  double buckets = 1.0;
  for (int d = 0; d < kAxes; ++d) {
    size_[d] = std::max<std::int64_t>(1, (total[d] + count - 1) / count);
    buckets_[d] = (bounds_.extent()[d] + size_[d] - 1) / size_[d];
    buckets *= static_cast<double>(buckets_[d]);
  }
  return buckets <= kMostBucketsAPatch * static_cast<double>(count);
}

void PatchIndex::fillBuckets() {
  offsets_.assign(static_cast<std::size_t>(buckets_.i * buckets_.j * buckets_.k) + 1, 0);
  const auto place = [&](Index b) {
    return static_cast<std::size_t>((b.k * buckets_.j + b.j) * buckets_.i + b.i);
  };
  const auto each = [&](auto&& put) {
    for (std::uint32_t n = 0; n < boxes_.size(); ++n) {
      const Box& b = boxes_[n];
      const Index first = bucketOf(b.lo);
      const Index last = bucketOf(b.hi - Index{1, 1, 1});
      const Index corner = bounds_.lo + Index{first.i * size_.i, first.j * size_.j, first.k * size_.k};
      lattice_ = lattice_ && first == last && b.lo == corner;
      forEachBucket(first, last, [&](Index at) { put(place(at), n); });
    }
  };
  each([&](std::size_t at, std::uint32_t) { ++offsets_[at + 1]; });
  onePatchABucket_ = std::accumulate(offsets_.begin(), offsets_.end(), std::size_t{0}) == boxes_.size();
  for (std::size_t n = 1; n < offsets_.size(); ++n) offsets_[n] += offsets_[n - 1];
  items_.resize(offsets_.back());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  each([&](std::size_t at, std::uint32_t n) { items_[next[at]++] = n; });
}

}  // namespace tessera
