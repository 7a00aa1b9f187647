#pragma once

#include <cstdint>
#include <cstring>

#include "scheduler/engine/detail/engine_state.hpp"
#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

/// What the body of a task can ask of the engine, and the threads that run it. One object for each thread of
/// the group; on the host a group is one thread. Not to be kept beyond the task.
class GroupBase {
 public:
  TESSERA_KERNEL GroupBase(const EngineState& state, const Task& task, TaskMemory::Hints& hints,
                           std::uint32_t seed)
      : state_(state),
        task_(task),
        hints_(hints),
        seed_(seed),
        begin_(task.deadlineMicros == 0 ? 0 : nowNanos()) {}

  /// Memory of tasks: from one task to another, or for the host. The block belongs to the calling thread
  /// alone until it tells others. 0: none is left. The host releases it by Engine::release.
  TESSERA_KERNEL void* allocate(std::uint64_t bytes) {
    return reinterpret_cast<void*>(state_.memory.allocate(bytes, hints_, seed_).address);
  }
  TESSERA_KERNEL MemoryFault release(void* block) {
    return state_.memory.release(reinterpret_cast<std::uint64_t>(block));
  }

  /// The task ends as Failed, with this number for the host; the body goes on to its return. By lane 0.
  TESSERA_KERNEL void fail(std::uint32_t code) {
    status_ = TaskStatus::Failed;
    code_ = code;
  }

  /// Whether the body should return soon: the engine is to end, the task was taken back, or its deadline has
  /// passed. Ask once in 10 us or so in tasks that take long.
  TESSERA_KERNEL bool stopAsked() {
    if (state_.control->stop.load(std::memory_order_relaxed) != 0) {
      static_cast<void>(state_.control->stop.load(std::memory_order_acquire));
      status_ = TaskStatus::Cancelled;
      return true;
    }
    if (isCancelled(state_, task_)) {
      status_ = TaskStatus::Cancelled;
      return true;
    }
    if (begin_ == 0 || nowNanos() - begin_ < std::uint64_t{1000} * task_.deadlineMicros) return false;
    status_ = TaskStatus::Late;
    return true;
  }

  TESSERA_KERNEL TaskStatus status() const { return status_; }
  TESSERA_KERNEL std::uint32_t code() const { return code_; }

 protected:
  /// Puts a task of no one's into its queue.
  TESSERA_KERNEL bool spawnTask(const Task& task) { return pushSpawned(state_, task); }

  const EngineState& state_;
  const Task& task_;
  TaskMemory::Hints& hints_;
  std::uint32_t seed_;
  std::uint64_t begin_;
  TaskStatus status_ = TaskStatus::Done;
  std::uint32_t code_ = 0;
};

/// The group of one host thread.
template <class Kinds>
class HostGroup : public GroupBase {
 public:
  HostGroup(const EngineState& state, const Task& task, TaskMemory::Hints& hints, std::uint32_t seed,
            void* (*workspace)(std::uint64_t))
      : GroupBase(state, task, hints, seed), workspace_(workspace) {}

  static constexpr int lane() { return 0; }
  static constexpr int width() { return 1; }
  /// All lanes come here before any goes on; what they wrote is then seen by all of them.
  void sync() const {}
  /// The value of lane 0, in all lanes.
  template <class T>
  T broadcast(T value) const {
    return value;
  }
  /// Memory for this task alone, the same for all its lanes, gone when it ends; called once, by all lanes.
  /// The fast memory of the multiprocessor where it fits (EngineOptions::workspaceBytes), else memory of
  /// tasks; nullptr: none is left.
  void* workspace(std::uint64_t bytes) const { return workspace_(bytes); }
  /// A new task for which nobody waits; any lane may call it. False: its queue is full, so do its work here,
  /// or try again later; never wait for room, since all workers might.
  template <class Kind>
  bool spawn(const typename Kind::Arguments& arguments) {
    return spawnTask(taskOf<Kind>(Kinds::template numberOf<Kind>(), arguments));
  }

 private:
  void* (*workspace_)(std::uint64_t);
};

}  // namespace tessera::engine
