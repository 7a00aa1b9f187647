#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/device_loops.hpp"
#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/memory/device_pool.hpp"

namespace tessera {

/// Takes the loops of tasks' bodies and launches each as one kernel over the patches of all tasks.
///
///   loops.begin(parts);                        // in DeviceLane's LaneClient::launch
///   for (number : tasks) body(frame with loops = &loops.instance(number));
///   loops.launch(streams);                     // returns at once
///   ...
///   body(frame with loops = &loops.finished(number));   // when the lane says that the task has ended
///
/// Loops that stand at the same place in their bodies and have closures of one type are one launch, so that
/// patches whose bodies take different branches still share what they have in common. Later places run
/// after earlier ones; with several parts also after the other parts' earlier ones. Closures, and the words
/// of reductions, travel to the device in one copy for each part, and the words come back in one.
///
/// Memory of the pools is taken and given in the order of the streams; the words of reductions stay in
/// pinned memory until each instance that has some was asked for by `finished`. Thread rule: the backend's.
class TaskLoops {
 public:
  /// The backend and the pools, `pinned` of DeviceSpace::PinnedHost, outlive this.
  TaskLoops(DeviceBackend& backend, DevicePool& device, DevicePool& pinned);
  ~TaskLoops();
  TaskLoops(const TaskLoops&) = delete;
  TaskLoops& operator=(const TaskLoops&) = delete;

  /// A new launch, whose patches are cut into `parts`; nothing is recorded yet. What was recorded and not
  /// launched is forgotten.
  void begin(std::int32_t parts);
  /// What takes the loops of task instance `number` (small numbers from 0) from now on.
  DeviceLoops& instance(std::int32_t number);
  /// All that was recorded, part p into `streams[p]`.
  void launch(std::span<const DeviceStream> streams);
  /// Once for each launch of an instance, after the device has done it: reductions give their values, other
  /// loops do nothing. Valid until the next call of any function here.
  DeviceLoops& finished(std::int32_t number);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
