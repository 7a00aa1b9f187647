#include "scheduler/device/loops/loop_results.hpp"

namespace tessera::detail {

void LoopResults::beginLaunch(std::span<std::int64_t* const> words, std::span<const DeviceStream> streams) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::int32_t>(launches_.size()));
    launches_.emplace_back();
  }
  current_ = spare_.back();
  spare_.pop_back();
  Launch& launch = launches_[static_cast<std::size_t>(current_)];
  launch.words.assign(words.begin(), words.end());
  launch.streams.assign(streams.begin(), streams.end());
  launch.ranges.clear();
  launch.instances = 0;
}

void LoopResults::add(std::int32_t number, const WordRange& range) {
  const auto at = static_cast<std::size_t>(number);
  if (at >= instances_.size()) instances_.resize(2 * at + 1);
  Launch& launch = launches_[static_cast<std::size_t>(current_)];
  Instance& instance = instances_[at];
  if (instance.launch != current_) {
    // Of an earlier launch that nobody asked for.
    if (instance.launch >= 0) release(instance.launch);
    instance = {current_, static_cast<std::int32_t>(launch.ranges.size()), 0};
    ++launch.instances;
  }
  ++instance.count;
  launch.ranges.push_back(range);
}

void LoopResults::take(std::int32_t number, std::vector<std::int64_t>& words,
                       std::vector<std::int32_t>& counts) {
  words.clear();
  counts.clear();
  const auto at = static_cast<std::size_t>(number);
  if (at >= instances_.size() || instances_[at].launch < 0) return;
  Instance& instance = instances_[at];
  const Launch& launch = launches_[static_cast<std::size_t>(instance.launch)];
  for (std::int32_t n = 0; n < instance.count; ++n) {
    const WordRange& range = launch.ranges[static_cast<std::size_t>(instance.begin + n)];
    for (const std::int64_t* part : launch.words) {
      words.insert(words.end(), part + range.begin, part + range.begin + range.count);
    }
    counts.push_back(range.count * static_cast<std::int32_t>(launch.words.size()));
  }
  release(instance.launch);
  instance.launch = -1;
}

void LoopResults::release(std::int32_t number) {
  Launch& launch = launches_[static_cast<std::size_t>(number)];
  if (--launch.instances > 0) return;
  for (std::size_t part = 0; part < launch.words.size(); ++part) {
    pinned_.free(launch.streams[part], launch.words[part]);
  }
  spare_.push_back(number);
}

}  // namespace tessera::detail
