#pragma once

#include "scheduler/engine/group.hpp"

namespace tessera::engine {

/// A task that spawns the next one, so often; the last of a chain counts itself. For measurements of what
/// workers make themselves: the number of tasks is known.
template <TaskWidth kWidth>
struct Relay {
  static constexpr const char* name = kWidth == TaskWidth::Lane ? "relay" : "relay_warp";
  static constexpr TaskWidth width = kWidth;
  using Count = ScopedAtomic<std::uint64_t, Scope::Device>;
  struct Arguments {
    Count* ends;
    std::uint64_t left;
  };
  struct Result {
    std::uint64_t left;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    if (group.lane() == 0) {
      if (in.left == 0 || !group.template spawn<Relay>({in.ends, in.left - 1})) {
        in.ends->fetch_add(in.left == 0 ? 1 : std::uint64_t{1} << 32, std::memory_order_relaxed);
      }
    }
    return {in.left};
  }
};

}  // namespace tessera::engine
