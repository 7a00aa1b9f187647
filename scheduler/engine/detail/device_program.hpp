#pragma once

#include <cstdint>

#include "scheduler/engine/detail/engine_state.hpp"

namespace tessera::engine {

/// Words in pinned memory through which the host and a resident kernel talk. The host writes the first group,
/// the kernel the second.
struct HostWords {
  enum Command : std::uint32_t {
    Run,    ///< take what comes
    Close,  ///< end once `expected` results are out and nothing is open
    Stop,   ///< end after the running tasks
  };
  enum Ending : std::uint32_t { None, Asked, HostSilent };

  alignas(128) ScopedAtomic<std::uint32_t, Scope::System> command{0};
  ScopedAtomic<std::uint32_t, Scope::System> question{0};  ///< counts requests for `open`
  ScopedAtomic<std::uint64_t, Scope::System> heartbeat{0};
  ScopedAtomic<std::uint64_t, Scope::System> expected{0};

  alignas(128) ScopedAtomic<std::uint32_t, Scope::System> ending{0};
  ScopedAtomic<std::uint32_t, Scope::System> begun{0};     ///< 1: the kernel runs
  ScopedAtomic<std::uint32_t, Scope::System> answered{0};  ///< the last question answered
  ScopedAtomic<std::int64_t, Scope::System> open{0};
};

/// Which multiprocessors the engine fills: the first ones on which its blocks find a place, so that two
/// engines, or an engine and others, may share a device.
struct Places {
  static constexpr std::uint32_t kMost = 1024;
  enum Answer : std::uint32_t { Unknown, Mine, NotMine };
  ScopedAtomic<std::uint32_t, Scope::Device> roles{0};   ///< blocks that stay
  ScopedAtomic<std::uint32_t, Scope::Device> chosen{0};  ///< multiprocessors asked about
  ScopedAtomic<std::uint32_t, Scope::Device> blocks[kMost];
  ScopedAtomic<std::uint32_t, Scope::Device> answers[kMost];
};

/// What one start of the kernel gets.
struct KernelInput {
  EngineState state;
  Inbox inbox;
  /// By bundle of 32 tickets: its number + 1 once the device has read all of it.
  ScopedAtomic<std::uint64_t, Scope::System>* read = nullptr;
  std::uint64_t inboxBegin = 0;  ///< the first ticket of the inbox that was not read yet
  HostWords* words = nullptr;
  std::uint64_t heartbeatNanos = 0;    ///< 0: the host may be silent
  std::uint32_t blocks[kWidths] = {};  ///< that take tasks of each width
  std::uint32_t multiprocessors = 0;   ///< blocks on others end at once
  Places* places = nullptr;
};

/// The super-kernel of a program, as the host sees it. Numbers returned are those of cudaError_t.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Loads the kernel, and says how many blocks of it fit on a multiprocessor at a time.
  virtual int prepare(int threads, int sharedBytes, int* blocksPerMultiprocessor) const = 0;
  virtual int launch(const KernelInput& input, int blocks, int threads, int sharedBytes,
                     void* stream) const = 0;
};

/// Tasks that a worker as wide as a warp holds at a time.
inline constexpr int kWarpBatch = 4;
/// Threads of a block at most: with more, a kind could not use 255 registers.
inline constexpr int kMostThreads = 256;

/// Shared memory of a block that the engine itself takes, for blocks of so many threads.
constexpr int engineSharedBytes(int threads) {
  return threads / 32 * kWarpBatch * static_cast<int>(sizeof(Task) + sizeof(Completion)) +
         static_cast<int>(sizeof(TaskMemory::Hints)) + 192;
}

}  // namespace tessera::engine
