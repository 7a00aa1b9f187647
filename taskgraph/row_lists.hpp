#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/id.hpp"
#include "core/text/contracts.hpp"

namespace tessera {

/// Where a list lies in a pool: begin, length and how much more fits behind it, in one word, so that a list
/// can change without moving others and costs no more than the offsets of a packed table. At most 2^33 items
/// a pool and 2^26 a list.
class ListPlace {
 public:
  /// More room than this behind a list is given to others.
  static constexpr std::int64_t kMostSpare = 31;

  ListPlace() = default;
  ListPlace(std::int64_t begin, std::int64_t count, std::int64_t spare = 0)
      : bits_(static_cast<std::uint64_t>(begin) << kBeginBit |
              static_cast<std::uint64_t>(spare) << kCountBits | static_cast<std::uint64_t>(count)) {
    TESSERA_EXPECT(begin >> (64 - kBeginBit) == 0 && count >> kCountBits == 0,
                   "give a rank less than 2^33 edges, and a node less than 2^26 successors");
  }
  std::int64_t begin() const { return static_cast<std::int64_t>(bits_ >> kBeginBit); }
  std::int64_t count() const { return static_cast<std::int64_t>(bits_ & kCountMask); }
  std::int64_t spare() const { return static_cast<std::int64_t>(bits_ >> kCountBits) & kMostSpare; }
  /// One item more.
  void grow() { ++bits_; }

 private:
  static constexpr int kCountBits = 26;
  static constexpr int kBeginBit = kCountBits + 5;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
  std::uint64_t bits_ = 0;
};

/// The gaps of a pool, in multiples of eight items, by length.
class PoolGaps {
 public:
  /// Items that a list of `count` takes when it is moved.
  static constexpr std::int64_t rounded(std::int64_t count) { return (count + kGrain - 1) / kGrain * kGrain; }

  /// Notes items that nobody uses any more; lengths beyond a few hundred are given up.
  void add(std::int64_t begin, std::int64_t count) {
    const std::int64_t grains = std::min<std::int64_t>(count / kGrain, kLengths);
    if (grains == 0) return;
    if (begins_.empty()) begins_.resize(kLengths);
    begins_[static_cast<std::size_t>(grains - 1)].push_back(begin);
    lengths_ |= std::uint64_t{1} << (grains - 1);
  }
  /// The begin of a gap of at least `count` (rounded) items, cut to that; -1 where there is none.
  std::int64_t take(std::int64_t count) {
    const std::int64_t grains = count / kGrain;
    if (grains == 0 || grains > kLengths) return -1;
    const std::uint64_t fitting = lengths_ >> (grains - 1);
    if (fitting == 0) return -1;
    const std::int64_t found = grains + std::countr_zero(fitting);
    std::vector<std::int64_t>& list = begins_[static_cast<std::size_t>(found - 1)];
    const std::int64_t begin = list.back();
    list.pop_back();
    if (list.empty()) lengths_ &= ~(std::uint64_t{1} << (found - 1));
    add(begin + count, (found - grains) * kGrain);
    return begin;
  }

 private:
  static constexpr std::int64_t kGrain = 8;
  static constexpr std::int64_t kLengths = 64;
  std::vector<std::vector<std::int64_t>> begins_;
  std::uint64_t lengths_ = 0;  ///< bit n: there are gaps of n + 1 grains
};

/// A list for each row, all in one pool. A list can be replaced: in its own place where it fits, otherwise in
/// a gap that others left, or at the end of the pool. The pool grows by a quarter at most; who needs more
/// builds anew, so gaps never make up more than that.
///
///   RowLists<std::int32_t> lists;
///   lists.push(7);
///   lists.endRow();
///   lists.finish(1);
///   lists.replace(0, {});
///   lists.row(0);        // empty
///
/// `Row`: what numbers the rows, an integer or an id.
template <class T, class Row = std::int64_t>
struct RowLists {
  std::vector<ListPlace> places;  ///< by row; empty where every list is
  std::vector<T> pool;
  std::int64_t bound = 0;  ///< items that the pool may hold before it is built anew
  PoolGaps gaps;

  std::span<const T> row(Row n) const {
    if (places.empty()) return {};
    const ListPlace place = places[indexOf(n)];
    return {pool.data() + place.begin(), static_cast<std::size_t>(place.count())};
  }
  /// Items of all rows, without gaps. O(rows).
  std::int64_t itemCount() const {
    std::int64_t count = 0;
    for (const ListPlace& place : places) count += place.count();
    return count;
  }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(places.size() * sizeof(ListPlace) + pool.size() * sizeof(T));
  }

  /// Adds an item to the row that is being built.
  void push(const T& item) { pool.push_back(item); }
  void endRow() {
    const std::int64_t begin = places.empty() ? 0 : places.back().begin() + places.back().count();
    places.emplace_back(begin, static_cast<std::int64_t>(pool.size()) - begin);
  }
  /// Ends building: rows up to `rows` are empty, and from here on the pool is bounded.
  void finish(std::int64_t rows) {
    places.resize(static_cast<std::size_t>(rows));
    bound = boundOf(static_cast<std::int64_t>(pool.size()));
  }
  /// What a pool of `items` may grow to.
  static constexpr std::int64_t boundOf(std::int64_t items) { return items + items / 4 + 4096; }

  /// Gives row `n` another list. False, and the row is lost, where the pool has reached its bound.
  bool replace(Row n, std::span<const T> list) {
    ListPlace& place = places[indexOf(n)];
    const auto count = static_cast<std::int64_t>(list.size());
    const std::int64_t had = place.count() + place.spare();
    if (count <= had) {
      const std::int64_t given =
          std::max<std::int64_t>(0, PoolGaps::rounded(had - count - ListPlace::kMostSpare));
      gaps.add(place.begin() + had - given, given);
      place = ListPlace(place.begin(), count, had - count - given);
    } else {
      gaps.add(place.begin(), had);
      const std::int64_t begin = takePlace(PoolGaps::rounded(count));
      if (begin < 0) return false;
      place = ListPlace(begin, count, PoolGaps::rounded(count) - count);
    }
    std::copy(list.begin(), list.end(), pool.begin() + place.begin());
    return true;
  }

 private:
  std::int64_t takePlace(std::int64_t count) {
    const std::int64_t gap = gaps.take(count);
    if (gap >= 0) return gap;
    const auto end = static_cast<std::int64_t>(pool.size());
    if (end + count > bound) return -1;
    pool.resize(static_cast<std::size_t>(end + count));
    return end;
  }
};

}  // namespace tessera
