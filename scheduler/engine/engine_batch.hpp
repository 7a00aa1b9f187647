#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "scheduler/engine/engine.hpp"

namespace tessera::engine {

/// Tasks and their data, handed to an engine by a caller that looks after them now and then and never waits:
/// a task of a time step, say. Used by one thread at a time.
///
///   EngineBatch batch(engine, "the rows of patch 7");
///   for (auto row : rows) batch.add<Integrate>({batch.inOut(row), dt, n}, [&](const Integrate::Result& r) {
///   ... }); while (!batch.proceed()) doOtherThings();
///
/// Addresses of data: an engine on threads of the host works on the caller's own memory, one on a GPU on
/// copies in the engine's memory, which come back when all tasks have ended. A body that takes every address
/// from `input`, `output`, `inOut` or `room` is right for both.
class EngineBatch {
 public:
  /// `name` says in errors and reports whose tasks these are. The engine outlives the batch and stays (mode
  /// Persistent); throws UsageError for another mode.
  EngineBatch(Engine& engine, std::string name);
  /// Takes back tasks that have not begun, waits for those that run, and gives the memory back.
  ~EngineBatch();
  EngineBatch(const EngineBatch&) = delete;
  EngineBatch& operator=(const EngineBatch&) = delete;

  Engine& engine() const { return *engine_; }

  template <TaskKind Kind>
  void add(const typename Kind::Arguments& arguments) {
    addTask(taskOf<Kind>(engine_->program().template numberOf<Kind>(), arguments), {});
  }
  /// `take(result)` is called by `proceed`, once all tasks have ended well, in the order of `add`.
  template <TaskKind Kind, class Take>
  void add(const typename Kind::Arguments& arguments, Take take) {
    addTask(taskOf<Kind>(engine_->program().template numberOf<Kind>(), arguments),
            [take = std::move(take)](const Finished& finished) {
              typename Kind::Result result;
              std::memcpy(&result, finished.result, sizeof(result));
              take(result);
            });
  }
  /// Of tasks that are added from now on, in microseconds; 0: none.
  void setDeadline(std::uint32_t micros) { deadlineMicros_ = micros; }

  /// The address of `values` for tasks, which read them. They stay as they are until the batch has ended.
  template <class T>
  const T* input(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<const T*>(place(const_cast<T*>(values.data()), values.size_bytes(), true, false));
  }
  /// The address of `values` for tasks, which write all of them.
  template <class T>
  T* output(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    return static_cast<T*>(place(values.data(), values.size_bytes(), false, true));
  }
  /// The address of `values` for tasks, which change them.
  template <class T>
  T* inOut(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    return static_cast<T*>(place(values.data(), values.size_bytes(), true, true));
  }
  /// Memory from one task to another, gone with the batch.
  template <class T>
  T* room(std::int64_t count) {
    return static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }

  /// Hands in what there is room for and fetches what has ended, without waiting. True: all tasks have ended
  /// well, and what they wrote is where the caller wants it. Throws InternalError, with how many and which
  /// was the first, where some did not end well: when all have ended.
  bool proceed();

  std::int64_t size() const { return std::ssize(tasks_); }
  std::int64_t ended() const { return ended_; }
  /// How far the batch is, and what the engine's workers have been at for the longest time.
  std::string text() const;

 private:
  struct Copy {
    std::byte* here = nullptr;
    void* there = nullptr;
    std::size_t bytes = 0;
  };
  struct Open {
    Ticket<void> ticket;
    std::size_t task = 0;
  };

  void addTask(Task task, std::function<void(const Finished&)> take);
  void* place(void* values, std::size_t bytes, bool in, bool out);
  void* allocate(std::size_t bytes);
  bool handIn();
  bool fetch();
  void watch(bool gotOn);
  void finish();
  void expectAllDone() const;
  void releaseMemory() noexcept;

  Engine* engine_;
  std::string name_;
  std::uint32_t deadlineMicros_ = 0;
  std::vector<Task> tasks_;
  std::vector<std::function<void(const Finished&)>> takes_;  ///< by task
  std::vector<Finished> finished_;                           ///< by task
  std::vector<Open> open_;                                   ///< handed in, and not fetched
  std::size_t handedIn_ = 0;
  std::size_t look_ = 0;  ///< where in `open_` the next look begins
  std::int64_t ended_ = 0;
  std::vector<void*> memory_;
  std::vector<Copy> outputs_;
  std::vector<RunningTask> running_;  ///< as last seen where nothing ended for a while
  std::uint64_t quietSince_ = 0;
};

}  // namespace tessera::engine
