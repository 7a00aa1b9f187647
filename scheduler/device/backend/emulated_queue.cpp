#include "scheduler/device/backend/emulated_queue.hpp"

#include <cstring>
#include <utility>

namespace tessera::detail {

void EmulatedWork::perform() const {
  if (waitsFor != nullptr) waitsFor->wait();
  if (run != nullptr) run(arguments.data(), nullptr);
  if (bytes > 0) std::memcpy(to, from, bytes);
  if (completes != nullptr) completes->complete();
}

void EmulatedQueue::push(EmulatedWork work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

const EmulatedWork* EmulatedQueue::waitForNext() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !work_.empty(); });
  return work_.empty() ? nullptr : &work_.front();
}

const EmulatedWork* EmulatedQueue::next() {
  const std::lock_guard lock(mutex_);
  return work_.empty() ? nullptr : &work_.front();
}

void EmulatedQueue::pop() {
  {
    const std::lock_guard lock(mutex_);
    work_.pop_front();
  }
  changed_.notify_all();
}

void EmulatedQueue::waitUntilEmpty() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty(); });
}

bool EmulatedQueue::isEmpty() const {
  const std::lock_guard lock(mutex_);
  return work_.empty();
}

void EmulatedQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace tessera::detail
