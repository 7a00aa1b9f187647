#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/device/loops/loop_recorder.hpp"
#include "scheduler/device/loops/loop_results.hpp"
#include "scheduler/device/loops/loop_tables.hpp"
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
  TaskLoops(const TaskLoops&) = delete;
  TaskLoops& operator=(const TaskLoops&) = delete;

  /// A new launch, whose patches are cut into `parts`; nothing is recorded yet. What was recorded and not
  /// launched is forgotten.
  void begin(std::int32_t parts);
  /// What takes the loops of task instance `number` (small numbers from 0) from now on.
  DeviceLoops& instance(std::int32_t number) {
    recorder_.instance(number);
    return recorder_;
  }
  /// All that was recorded, part p into `streams[p]`.
  void launch(std::span<const DeviceStream> streams);
  /// Once for each launch of an instance, after the device has done it: reductions give their values, other
  /// loops do nothing. Valid until the next call of any function here.
  DeviceLoops& finished(std::int32_t number);

 private:
  /// The memory of one part of a launch.
  struct Part {
    DeviceStream stream;
    std::byte* staging = nullptr;  ///< pinned: the words of reductions, then the tables of all buckets
    std::byte* table = nullptr;    ///< the same on the device
  };

  void stage(std::span<detail::LoopBucket* const> buckets, std::int32_t part);
  void upload();
  void copyClosures(const detail::LoopBucket& bucket, std::byte* to);
  void fetchWords();

  DeviceBackend& backend_;
  DevicePool& device_;
  DevicePool& pinned_;
  const bool runsOnHost_;
  // Tables travel beside the work that is in the streams already, and not behind it.
  DeviceStream upload_;
  DeviceEvent uploaded_;
  detail::LoopRecorder recorder_;
  detail::LoopLauncher launcher_;
  detail::LoopResults results_;
  detail::FinishedLoops finished_;
  std::vector<Part> parts_;
  std::vector<detail::LoopPart> places_;
  std::vector<std::int64_t*> words_;
  std::vector<DeviceStream> streams_;
  detail::LoopExtent extent_;
  std::int32_t partCount_ = 1;
  PatchOrder order_ = PatchOrder::Rising;  ///< of the next launch
};

}  // namespace tessera
