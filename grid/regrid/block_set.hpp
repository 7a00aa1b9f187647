#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"

namespace tessera {

/// Blocks of a lattice over the domain, each once. A block is the smallest thing that can be refined: a box
/// of cells of one level, the same number along each axis. What is added beyond the domain comes back at the
/// other end of an axis that wraps, and is left out elsewhere. One thread at a time.
///
///   BlockSet flagged({8, 8, 1}, {true, false, false});
///   flagged.add(Box{{-1, 0, 0}, {1, 1, 1}});   // blocks (7, 0, 0) and (0, 0, 0)
class BlockSet {
 public:
  BlockSet() = default;
  BlockSet(Extent lattice, std::array<bool, kAxes> wraps) : lattice_(lattice), wraps_(wraps) {}

  const Extent& lattice() const { return lattice_; }
  void add(Index block) { add({block, block + Index{1, 1, 1}}); }
  void add(const Box& blocks);
  void add(const BlockSet& other);

  /// In the order of their places, z first. Valid until the next `add`.
  std::span<const Index> blocks();
  bool contains(Index block);
  bool empty() { return blocks().empty(); }

 private:
  void settle();

  Extent lattice_{1, 1, 1};
  std::array<bool, kAxes> wraps_{};
  std::vector<Index> blocks_;
  std::size_t settled_ = 0;  ///< so many of them are in order, each once
};

/// Whether `a` lies before `b`: z first.
constexpr bool blockBefore(const Index& a, const Index& b) {
  if (a.k != b.k) return a.k < b.k;
  if (a.j != b.j) return a.j < b.j;
  return a.i < b.i;
}

}  // namespace tessera
