#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"
#include "grid/box_tree.hpp"
#include "grid/patch.hpp"

namespace tessera {

/// Finds the patches that overlap a box: a lattice of buckets about as large as a patch, each listing the
/// patches that touch it; where most buckets would be empty, because patches lie far apart, a tree. Building
/// costs O(patches), with a tree times their logarithm, a query O(patches found). Immutable; safe from any
/// thread.
class PatchIndex {
 public:
  PatchIndex() = default;
  explicit PatchIndex(std::span<const Patch> patches);

  /// Calls `visit(position in the list)` once for each patch that overlaps `cells`, in the order of their
  /// places: it depends on these patches only, not on the rest of the level.
  template <class Visit>
  void visit(const Box& cells, Visit&& visit) const {
    const Box query = intersect(cells, bounds_);
    if (query.empty()) return;
    if (lattice_) return visitBuckets(query, visit);
    Found found;
    const auto note = [&](std::size_t n) { found.add(static_cast<std::uint32_t>(n)); };
    if (sparse_) {
      tree_.visit(boxes_, query, note);
    } else {
      visitBuckets(query, note);
    }
    for (const std::uint32_t n : found.sorted(boxes_)) visit(std::size_t{n});
  }

 private:
  /// What a query has found; few patches need no memory of their own.
  class Found {
   public:
    void add(std::uint32_t n) {
      if (count_ < few_.size()) {
        few_[count_++] = n;
        return;
      }
      if (many_.empty()) many_.assign(few_.begin(), few_.end());
      many_.push_back(n);
    }
    std::span<const std::uint32_t> sorted(const std::vector<Box>& boxes) {
      const std::span<std::uint32_t> all = many_.empty() ? std::span(few_).first(count_) : std::span(many_);
      const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return beforeByPosition(boxes[a], boxes[b]);
      };
      if (!std::is_sorted(all.begin(), all.end(), before)) std::sort(all.begin(), all.end(), before);
      return all;
    }

   private:
    std::array<std::uint32_t, 64> few_;
    std::size_t count_ = 0;
    std::vector<std::uint32_t> many_;
  };

  template <class Visit>
  void visitBuckets(const Box& query, Visit&& visit) const {
    const Index first = bucketOf(query.lo);
    const Index last = bucketOf(query.hi - Index{1, 1, 1});
    for (std::int64_t k = first.k; k <= last.k; ++k) {
      for (std::int64_t j = first.j; j <= last.j; ++j) {
        for (std::int64_t i = first.i; i <= last.i; ++i) visitBucket({i, j, k}, first, query, visit);
      }
    }
  }

  Index bucketOf(Index cell) const {
    return {(cell.i - bounds_.lo.i) / size_.i, (cell.j - bounds_.lo.j) / size_.j,
            (cell.k - bounds_.lo.k) / size_.k};
  }
  std::span<const std::uint32_t> bucket(Index b) const {
    const auto at = static_cast<std::size_t>((b.k * buckets_.j + b.j) * buckets_.i + b.i);
    return std::span(items_).subspan(offsets_[at], offsets_[at + 1] - offsets_[at]);
  }
  template <class Visit>
  void visitBucket(Index at, Index first, const Box& query, Visit&& visit) const {
    for (const std::uint32_t n : bucket(at)) {
      if (intersect(boxes_[n], query).empty()) continue;
      // A patch in several buckets is reported in the first of them that the query looks at.
      if (!onePatchABucket_) {
        const Index from = bucketOf(boxes_[n].lo);
        if (at != Index{std::max(from.i, first.i), std::max(from.j, first.j), std::max(from.k, first.k)})
          continue;
      }
      visit(std::size_t{n});
    }
  }

  /// False where the lattice would have many more buckets than there are patches.
  bool chooseLattice(Extent total);
  void fillBuckets();

  Box bounds_;
  Extent size_{1, 1, 1};
  Extent buckets_{0, 0, 0};
  bool onePatchABucket_ = true;  ///< every patch lies in a single bucket
  bool lattice_ = true;  ///< every patch starts where a bucket does, so buckets have the order of places
  std::vector<Box> boxes_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint32_t> items_;
  bool sparse_ = false;  ///< `tree_` is in use, and no bucket
  BoxTree tree_;
};

}  // namespace tessera
