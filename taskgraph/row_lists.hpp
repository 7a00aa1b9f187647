#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/contracts.hpp"

namespace tessera {

/// Where a list lies in a pool: begin and length in one word, so that a list can change without moving others
/// and costs no more than the offsets of a packed table. At most 2^36 items a pool and 2^28 a list.
class ListPlace {
 public:
  ListPlace() = default;
  ListPlace(std::int64_t begin, std::int64_t count)
      : bits_(static_cast<std::uint64_t>(begin) << kCountBits | static_cast<std::uint64_t>(count)) {
    TESSERA_EXPECT(begin >> (64 - kCountBits) == 0 && count >> kCountBits == 0,
                   "give a rank less than 2^36 edges, and a node less than 2^28 successors");
  }
  std::int64_t begin() const { return static_cast<std::int64_t>(bits_ >> kCountBits); }
  std::int64_t count() const { return static_cast<std::int64_t>(bits_ & kCountMask); }
  /// One item more.
  void grow() { ++bits_; }

 private:
  static constexpr int kCountBits = 28;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
  std::uint64_t bits_ = 0;
};

/// A list for each row, all in one pool. A list can be replaced: in its own place where it fits, at the end of
/// the pool otherwise, which leaves a gap. The pool grows by a quarter at most; who needs more builds anew, so
/// gaps never make up more than that.
///
///   RowLists<std::int32_t> lists;
///   lists.push(7);
///   lists.endRow();      // row 0 is {7}
///   lists.row(0);
template <class T>
struct RowLists {
  std::vector<ListPlace> places;  ///< by row; empty where every list is
  std::vector<T> pool;
  std::int64_t bound = 0;  ///< items that the pool may hold before it is built anew

  std::span<const T> row(std::int64_t n) const {
    if (places.empty()) return {};
    const ListPlace place = places[static_cast<std::size_t>(n)];
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

  /// Gives row `n` another list. False, and nothing has changed, where the pool has reached its bound.
  bool replace(std::int64_t n, std::span<const T> list) {
    ListPlace& place = places[static_cast<std::size_t>(n)];
    const auto count = static_cast<std::int64_t>(list.size());
    std::int64_t begin = place.begin();
    if (count > place.count()) {
      begin = static_cast<std::int64_t>(pool.size());
      if (begin + count > bound) return false;
      pool.resize(static_cast<std::size_t>(begin + count));
    }
    std::copy(list.begin(), list.end(), pool.begin() + begin);
    place = ListPlace(begin, count);
    return true;
  }
};

}  // namespace tessera
