#pragma once

#include <cstdint>

#include "scheduler/engine/group.hpp"

namespace tessera::engine {

/// Work that makes more work: a task that stands for `count` leaves splits itself until single leaves are
/// left, and each leaf adds its number to a sum in memory of tasks. Tells whether spawned tasks run once
/// each: the sum over leaves first ... first + count - 1 is known.
template <TaskWidth kWidth>
struct SpawnTree {
  static constexpr const char* name = kWidth == TaskWidth::Lane ? "spawn_tree" : "spawn_tree_warp";
  static constexpr TaskWidth width = kWidth;
  using Sum = ScopedAtomic<std::uint64_t, Scope::Device>;
  struct Arguments {
    Sum* sum;
    std::uint64_t first;
    std::uint64_t count;
    std::uint64_t leaf;  ///< a task with so few leaves does not split
  };
  struct Result {
    std::uint64_t leaves;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    if (group.lane() != 0) return {0};
    std::uint64_t count = in.count;
    // Halves are given away from the end; where there is no room for them they are done here.
    while (count > in.leaf) {
      const std::uint64_t half = count / 2;
      const Arguments away{in.sum, in.first + count - half, half, in.leaf};
      if (!group.template spawn<SpawnTree>(away)) break;
      count -= half;
    }
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < count; ++n) sum += in.first + n;
    in.sum->fetch_add(sum, std::memory_order_relaxed);
    return {count};
  }
};

}  // namespace tessera::engine
