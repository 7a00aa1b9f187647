#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/device/memory/device_pool.hpp"

namespace tessera::detail {

/// The words of one reduction of one patch among the words of its launch.
struct WordRange {
  std::int64_t begin = 0;
  std::int32_t count = 0;
};

/// The words of reductions on their way from the device, launch by launch, until every instance has had its
/// own. Keeps its memory.
class LoopResults {
 public:
  explicit LoopResults(DevicePool& pinned) : pinned_(pinned) {}

  /// A launch; its words are `words[part]`, from the pinned pool in `streams[part]`.
  void beginLaunch(std::span<std::int64_t* const> words, std::span<const DeviceStream> streams);
  /// The next reduction of instance `number` in the launch that was begun last.
  void add(std::int32_t number, const WordRange& range);

  /// The words of all reductions of the instance: of each, those of one part after the other's. Counts
  /// `counts` get how many a reduction has. The words in memory may be gone afterwards.
  void take(std::int32_t number, std::vector<std::int64_t>& words, std::vector<std::int32_t>& counts);

 private:
  struct Launch {
    std::vector<std::int64_t*> words;  ///< by part
    std::vector<DeviceStream> streams;
    std::vector<WordRange> ranges;  ///< instance by instance
    std::int32_t instances = 0;     ///< that have not had theirs
  };
  struct Instance {
    std::int32_t launch = -1;
    std::int32_t begin = 0;
    std::int32_t count = 0;
  };

  void release(std::int32_t launch);

  DevicePool& pinned_;
  std::vector<Launch> launches_;
  std::vector<std::int32_t> spare_;  ///< of launches_
  std::vector<Instance> instances_;  ///< by number
  std::int32_t current_ = -1;
};

}  // namespace tessera::detail
