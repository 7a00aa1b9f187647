#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/device/loops/loop_recorder.hpp"
#include "scheduler/device/loops/loop_tables.hpp"
#include "scheduler/device/memory/device_pool.hpp"

namespace tessera {

/// The loops of one launch of tasks in memory that stays where it is, for work that is captured once and
/// launched again and again: as TaskLoops, but closures are rewritten between launches.
///
///   loops.begin();
///   for (number : tasks) body(frame with loops = &loops.instance(number));
///   const bool capture = !loops.fits();
///   loops.keep();                 // the device is done with what it was given last
///   loops.upload(stream);
///   if (capture) loops.put(streams);   // in a capture that all of `streams` belong to
///   ...
///   body(frame with loops = &loops.finished(number));   // any number of times, when the launch has ended
///
/// Thread rule: the backend's.
class KeptLoops {
 public:
  /// Memory is taken and given in the order of `stream`. The patches are cut into `parts`.
  KeptLoops(DeviceBackend& backend, DevicePool& device, DevicePool& pinned, DeviceStream stream,
            std::int32_t parts);
  /// Its launches are done.
  ~KeptLoops();
  KeptLoops(const KeptLoops&) = delete;
  KeptLoops& operator=(const KeptLoops&) = delete;

  /// What is recorded from now on takes the place of what was.
  void begin() { recorder_.begin(parts_); }
  /// What takes the loops of task instance `number` from now on; numbers rise.
  DeviceLoops& instance(std::int32_t number) {
    recorder_.instance(number);
    return recorder_;
  }
  /// What takes loops from now on that may run at once, after all of lower places and before those of higher
  /// ones; those of one type are one launch. Reductions are those of instance 0.
  DeviceLoops& place(std::int32_t place) {
    recorder_.place(place);
    return recorder_;
  }
  /// Whether one of the bodies that were recorded last has asked for that number of the step.
  bool hasAsked(StepNumber number) const { return recorder_.hasAsked(number); }
  /// Whether what was recorded has the loops, types and sizes of what was put: its closures can be put into
  /// their place.
  bool fits();
  /// Writes what was recorded to where uploads take it from; to other memory, where it does not fit.
  void keep();
  std::int64_t bytes() const { return extent_.bytes; }
  void upload(DeviceStream stream);
  /// All launches, part p into `streams[p]`, and the copies of reductions' words.
  void put(std::span<const DeviceStream> streams, PatchOrder order = PatchOrder::Rising);
  /// Of the last launch that has ended; valid until the next call of `finished`.
  DeviceLoops& finished(std::int32_t number);

 private:
  /// Of a bucket, all that launches are made of beside its closures.
  struct Shape {
    const DeviceLoopType* type = nullptr;
    std::int32_t place = 0;
    std::int32_t count = 0;
    Extent largest;
    std::int64_t entriesBegin = 0;
    std::int32_t stride = 0;
  };
  /// Where the words of one reduction of an instance are.
  struct WordsOf {
    std::int32_t number = 0;
    std::int64_t begin = 0;
    std::int32_t count = 0;
  };

  void takeMemory();
  void giveMemory();
  void dropClosures();
  void noteReductions();

  DeviceBackend& backend_;
  DevicePool& device_;
  DevicePool& pinned_;
  const DeviceStream stream_;
  const std::int32_t parts_;
  const bool runsOnHost_;
  detail::LoopRecorder recorder_;
  detail::LoopLauncher launcher_;
  std::vector<Shape> shapes_;  ///< of what was kept last
  detail::LoopExtent extent_;  ///< likewise
  std::byte* staging_ = nullptr;
  std::byte* table_ = nullptr;     ///< on the device; starts with the words that reductions start from
  std::int64_t* words_ = nullptr;  ///< on the device, one part after the other
  std::int64_t* found_ = nullptr;  ///< pinned, the same
  std::vector<WordsOf> reductions_;
  std::vector<detail::LoopPart> places_;
  detail::FinishedLoops finished_;
};

}  // namespace tessera
