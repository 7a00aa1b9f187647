#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::detail {

/// One record of an event of an emulated device: done once, seen by all threads.
class Completion {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Completion(bool isTimed = false) : isTimed_(isTimed) {}

  void complete() {
    {
      const std::lock_guard lock(mutex_);
      if (isTimed_) reachedAt_ = Clock::now();
      done_ = true;
    }
    changed_.notify_all();
  }
  bool isDone() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// Of one that is timed and done.
  Clock::time_point reachedAt() const {
    const std::lock_guard lock(mutex_);
    return reachedAt_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  const bool isTimed_;
  Clock::time_point reachedAt_{};
  bool done_ = false;
};

/// A piece of work in a stream of an emulated device. Exactly one of its parts is set.
struct EmulatedWork {
  DeviceLaunch::Run run = nullptr;
  std::vector<std::byte> arguments;
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<Completion> completes;
  std::shared_ptr<Completion> waitsFor;

  bool isBlocked() const { return waitsFor != nullptr && !waitsFor->isDone(); }
  /// Does it; a wait waits here.
  void perform() const;
};

/// What is in one stream of an emulated device. Any thread.
class EmulatedQueue {
 public:
  void push(EmulatedWork work);
  /// The consumer: the next piece, which stays in the queue while it is done; null once closed and empty.
  /// Waits for one.
  const EmulatedWork* waitForNext();
  /// The consumer: as waitForNext, but null also while there is none.
  const EmulatedWork* next();
  /// The consumer: the piece from `next` is done.
  void pop();
  /// Waits until it is empty.
  void waitUntilEmpty();
  bool isEmpty() const;
  /// Nothing more comes.
  void close();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EmulatedWork> work_;
  bool closed_ = false;
};

}  // namespace tessera::detail
