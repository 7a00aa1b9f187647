#pragma once

#include <cstdint>
#include <type_traits>

#include "core/kernel.hpp"

namespace tessera::engine {

/// How many threads of a device run one task together. On the host it is one thread, whatever this says.
enum class TaskWidth : std::uint8_t {
  Lane,   ///< one: 32 tasks of a kind run side by side in a warp, so they should take about equally long
  Warp,   ///< 32
  Block,  ///< all of a block (EngineOptions::blockThreads)
};
inline constexpr int kWidths = 3;

/// How a task ended. Only `Done` has a result.
enum class TaskStatus : std::uint16_t {
  Done,
  Failed,       ///< its body said so: Group::fail, whose number is in Completion::code
  Late,         ///< its deadline passed before it began or while it ran
  Cancelled,    ///< taken back before it began
  Skipped,      ///< a task that it waited for did not end well
  UnknownKind,  ///< the program has no kind of that number
};

/// "done", "failed" and so on.
const char* statusText(TaskStatus status);

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// One task as it lies in a queue. Plain bytes: the engine copies it between host and device.
struct alignas(16) Task {
  static constexpr std::size_t kArgumentBytes = 40;

  std::uint16_t kind = 0;            ///< number in the program
  std::uint16_t cancelWord = 0;      ///< dropped where the cancel word of its ticket is this; 0: never
  std::uint32_t ticket = kNobody;    ///< the host's place for its result; nobody asks where it was spawned
  std::uint64_t node = 0;            ///< address of its GraphNode; 0: nothing depends on it
  std::uint32_t deadlineMicros = 0;  ///< 0: none; counted from the moment when the engine takes it up
  std::uint32_t arguments[kArgumentBytes / 4] = {};
  std::uint32_t padding = 0;  ///< the first 60 bytes travel
};
static_assert(sizeof(Task) == 64 && std::is_trivially_copyable_v<Task>);

/// What is left of a task.
struct alignas(16) Completion {
  static constexpr std::size_t kResultBytes = 48;

  std::uint32_t ticket = kNobody;
  TaskStatus status = TaskStatus::Done;
  std::uint16_t kind = 0;
  std::uint32_t code = 0;  ///< of Group::fail
  std::uint32_t result[kResultBytes / 4] = {};
  std::uint32_t padding = 0;  ///< the first 60 bytes travel
};
static_assert(sizeof(Completion) == 64 && std::is_trivially_copyable_v<Completion>);

}  // namespace tessera::engine
