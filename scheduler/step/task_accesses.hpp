#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "core/text/contracts.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera::detail {

/// Room for the accesses of one task, on the stack of the thread that runs it. What is not asked for is not
/// made: to clear all of it would take longer than many a task.
class TaskAccesses {
 public:
  /// More accesses than this in one task are refused.
  static constexpr std::size_t kMost = kMostAccesses;

  TaskAccesses() {}  // NOLINT(modernize-use-equals-default): that would clear the memory
  TaskAccesses(const TaskAccesses&) = delete;
  TaskAccesses& operator=(const TaskAccesses&) = delete;
  ~TaskAccesses() = default;

  void add(const TaskAccess& access) {
    TESSERA_EXPECT(count_ < kMost, "split a task with more than 96 accesses");
    std::construct_at(first() + count_++, access);
  }
  std::span<TaskAccess> all() { return {first(), count_}; }

 private:
  static_assert(std::is_trivially_destructible_v<TaskAccess>, "nobody ends the accesses");

  TaskAccess* first() { return reinterpret_cast<TaskAccess*>(memory_); }

  std::size_t count_ = 0;
  alignas(TaskAccess) std::byte memory_[kMost * sizeof(TaskAccess)];  // NOLINT: left as it is
};

}  // namespace tessera::detail
