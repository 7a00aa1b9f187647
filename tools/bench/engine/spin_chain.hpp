#pragma once

#include "scheduler/engine/kinds/spin.hpp"

namespace tessera::engine {

/// A task of a given length that spawns the next one, so often: how well workers are used where tasks feed
/// them. The last of a chain counts itself.
struct SpinChain {
  static constexpr const char* name = "spin_chain";
  static constexpr TaskWidth width = TaskWidth::Warp;
  using Count = ScopedAtomic<std::uint64_t, Scope::Device>;
  struct Arguments {
    Count* ends;
    std::uint64_t nanos;
    std::uint64_t left;
  };
  struct Result {
    std::uint64_t nanos;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    const Spin::Result spun = Spin::run({in.nanos, 0}, group);
    if (group.lane() == 0) {
      if (in.left == 0 || !group.template spawn<SpinChain>({in.ends, in.nanos, in.left - 1})) {
        in.ends->fetch_add(in.left == 0 ? 1 : std::uint64_t{1} << 32, std::memory_order_relaxed);
      }
    }
    return {spun.nanos};
  }
};

}  // namespace tessera::engine
