#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "datawarehouse/checked/checked_field.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

/// Runs a task in checked mode: every index compared with the declaration, outputs made NaN before and every
/// owned index of them marked when written, inputs compared before and after. Throws UndeclaredAccess; a task
/// that leaves an index unwritten, does not contribute what it declared or changes an input is reported in
/// the same way. `accesses` are those of `frame`; they are changed (marks are attached) for the time of the
/// call.
void runChecked(TaskFrame frame, std::span<TaskAccess> accesses,
                const std::function<void(const TaskFrame&)>& body);

/// The same for a task on all own patches of a level: `accesses` are those of `frame.patches`, one patch
/// after the other.
void runCheckedOnPatches(const TaskFrame& frame, std::span<TaskAccess> accesses,
                         const std::function<void(const TaskFrame&)>& body);

/// Throws NumericalError naming variable, patch, cell and task for the first NaN or infinity in what the task
/// wrote.
void expectFinite(const TaskFrame& frame);

/// Throws UndeclaredAccess where the task has not contributed what it declared.
void expectContributions(const TaskFrame& frame);

namespace detail {

/// Throws UndeclaredAccess: the task left index `x` of an output unwritten.
[[noreturn]] void reportUnwritten(const TaskFrame& frame, const TaskAccess& access, Index x,
                                  std::int32_t component);
/// Throws NumericalError: the task left `value`, which is not finite, at index `x`.
[[noreturn]] void reportNonFinite(const TaskFrame& frame, const TaskAccess& access, Index x,
                                  std::int32_t component, double value);

}  // namespace detail

}  // namespace tessera
