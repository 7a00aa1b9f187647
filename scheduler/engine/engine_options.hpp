#pragma once

#include <cstdint>

namespace tessera::engine {

/// Where the workers of an engine are.
enum class EngineForm : std::uint8_t {
  Threads,  ///< threads of the host; runs everywhere
  Stepped,  ///< nowhere: each wait and each `turn` of the caller runs one task. The same order each time
  Cuda,     ///< a kernel that stays on a GPU and takes tasks from queues
};

/// Whether the workers wait for more.
enum class EngineMode : std::uint8_t {
  Persistent,   ///< from the making of the engine to its end
  RunThenExit,  ///< `Engine::runQueue` runs what was pushed, and then the workers end: for debuggers and
                ///< checkers
};

/// How large an engine is. Zeros are chosen by the engine.
struct EngineOptions {
  EngineForm form = EngineForm::Threads;
  EngineMode mode = EngineMode::Persistent;
  std::int32_t threads = 0;             ///< of the form Threads; 0: one a core
  std::int64_t capacity = 65536;        ///< tasks under way at a time, a power of two; more wait outside
  std::int64_t memoryBytes = 64 << 20;  ///< for data of tasks; whole pages of 64 KiB

  std::int32_t device = 0;           ///< number of the GPU, of the form Cuda
  std::int32_t multiprocessors = 0;  ///< how many to fill; 0: all. The others stay free for other kernels
  std::int32_t blocksPerMultiprocessor = 0;  ///< 0: as many as can be resident
  std::int32_t blockThreads = 256;  ///< a multiple of 32; each 32 are a worker for tasks as wide as a warp
  std::int32_t workspaceBytes = 0;  ///< shared memory of each worker, for Group::workspace
  /// Blocks for tasks of each width (Lane, Warp, Block); all zero: equal parts for the widths that the
  /// program has.
  std::int32_t blocks[3] = {0, 0, 0};
  /// The kernel ends by itself where the host has not been heard of for so long; 0: never, for debuggers.
  double heartbeatSeconds = 5.0;
};

}  // namespace tessera::engine
