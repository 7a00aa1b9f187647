#pragma once

#include <cstdint>

#include "scheduler/engine/group.hpp"

namespace tessera::engine {

/// Takes a given time and does nothing else: for measurements, and for tests of deadlines and of the
/// watchdog.
struct Spin {
  static constexpr const char* name = "spin";
  static constexpr TaskWidth width = TaskWidth::Warp;
  struct Arguments {
    std::uint64_t nanos;
    std::uint64_t ignoresStop;  ///< 1: goes on though the engine is to end; never for longer than `nanos`
  };
  struct Result {
    std::uint64_t nanos;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    const std::uint64_t begin = nowNanos();
    std::uint64_t passed = 0;
    while (passed < in.nanos) {
      if (in.ignoresStop == 0 && passed > 20'000 && group.stopAsked()) break;
      passed = nowNanos() - begin;
    }
    group.sync();
    return {passed};
  }
};

/// A task that fails with a number of the caller's.
struct Failing {
  static constexpr const char* name = "failing";
  static constexpr TaskWidth width = TaskWidth::Lane;
  struct Arguments {
    std::uint32_t code;
  };
  struct Result {
    std::uint32_t unused;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    group.fail(in.code);
    return {0};
  }
};

}  // namespace tessera::engine
