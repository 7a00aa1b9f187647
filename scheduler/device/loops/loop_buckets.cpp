#include "scheduler/device/loops/loop_buckets.hpp"

#include <algorithm>
#include <utility>

namespace tessera::detail {

void LoopBuckets::open(std::int32_t place, const char* name, const DeviceLoopType& type) {
  if (static_cast<std::size_t>(used_) == buckets_.size()) buckets_.emplace_back();
  LoopBucket& bucket = buckets_[static_cast<std::size_t>(used_++)];
  constexpr std::int32_t kAlign = alignof(std::max_align_t);
  bucket.type = &type;
  bucket.name = name;
  bucket.place = place;
  bucket.count = 0;
  bucket.stride =
      (static_cast<std::int32_t>(sizeof(DeviceLoopHead)) + type.closureBytes + kAlign - 1) / kAlign * kAlign;
  bucket.largest = {0, 0, 0};
}

std::span<LoopBucket* const> LoopBuckets::inOrder() {
  order_.clear();
  for (std::int32_t n = 0; n < used_; ++n) order_.push_back(&buckets_[static_cast<std::size_t>(n)]);
  std::sort(order_.begin(), order_.end(), [](const LoopBucket* a, const LoopBucket* b) {
    return std::pair(a->place, a) < std::pair(b->place, b);
  });
  return order_;
}

}  // namespace tessera::detail
