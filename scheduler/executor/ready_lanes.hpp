#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::detail {

/// The ready nodes of one worker that no other worker sees: a stack for each urgency, the most urgent first.
/// Last in, first out keeps to data that is still in the cache; `popOldest` gives away what is furthest from
/// it.
class ReadyLanes {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr int kMaxLanes = 16;

  /// `capacities[l]`: how many nodes of lane l there are at most.
  explicit ReadyLanes(std::span<const std::int64_t> capacities) {
    for (const std::int64_t capacity : capacities) {
      lanes_.emplace_back();
      lanes_.back().nodes.resize(std::bit_ceil(static_cast<std::size_t>(capacity) + 1));
      lanes_.back().mask = static_cast<std::uint32_t>(lanes_.back().nodes.size() - 1);
    }
  }

  bool empty() const { return filled_ == 0; }
  /// Whether a node of a more urgent lane than `lane` is ready.
  bool hasMoreUrgent(unsigned lane) const { return (filled_ & ((1U << lane) - 1U)) != 0; }

  void push(std::int32_t node, unsigned lane) {
    Lane& to = lanes_[lane];
    to.nodes[to.end++ & to.mask] = node;
    filled_ |= 1U << lane;
  }

  /// The youngest of the most urgent lane, or kNone.
  std::int32_t pop() {
    if (filled_ == 0) return kNone;
    const auto lane = static_cast<unsigned>(std::countr_zero(filled_));
    Lane& from = lanes_[lane];
    const std::int32_t node = from.nodes[--from.end & from.mask];
    if (from.begin == from.end) filled_ &= ~(1U << lane);
    return node;
  }

  /// The oldest of the most urgent lane, which must not be empty.
  std::int32_t popOldest() {
    const auto lane = static_cast<unsigned>(std::countr_zero(filled_));
    Lane& from = lanes_[lane];
    const std::int32_t node = from.nodes[from.begin++ & from.mask];
    if (from.begin == from.end) filled_ &= ~(1U << lane);
    return node;
  }

  void clear() {
    for (Lane& lane : lanes_) lane.begin = lane.end = 0;
    filled_ = 0;
  }

 private:
  struct Lane {
    std::vector<std::int32_t> nodes;  ///< a ring; begin and end wrap with their type
    std::uint32_t mask = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  std::vector<Lane> lanes_;
  std::uint32_t filled_ = 0;  ///< bit l: lane l has nodes
};

}  // namespace tessera::detail
