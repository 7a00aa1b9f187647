#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/exec/device_loops.hpp"

namespace tessera::detail {

/// The loops of one place and one type of closure, for each patch that has one:
/// one launch.
struct LoopBucket {
  const DeviceLoopType* type = nullptr;
  const char* name = "";
  std::int32_t place = 0;  ///< of the loop in its body
  std::int32_t count = 0;
  std::int32_t stride = 0;
  Extent largest{0, 0, 0};         ///< of any part
  std::vector<std::byte> entries;  ///< only ever grows; `count` of them count
  std::int64_t resultsBegin = 0;   ///< its words among all of the launch
  std::int64_t entriesBegin = 0;   ///< bytes
};

/// Sorts the loops of one launch into buckets. Keeps its memory from launch to
/// launch.
class LoopBuckets {
 public:
  /// Where an entry went.
  struct Place {
    std::int32_t bucket = 0;
    std::int32_t entry = 0;
  };

  /// `keepsClosures`: they run on the host, which needs copies and no mere
  /// bytes.
  explicit LoopBuckets(bool keepsClosures) : keepsClosures_(keepsClosures) {}

  void begin(std::int32_t parts) {
    used_ = 0;
    parts_ = parts;
  }
  void beginBody() {
    next_ = place_ = reads_ = 0;
    staysAtPlace_ = false;
    head_ = {};
    announced_.clear();
    looked_.clear();
  }
  /// Loops of one type from now on go into one bucket of that place, until the next body or place.
  void beginPlace(std::int32_t place) {
    beginBody();
    place_ = place;
    staysAtPlace_ = true;
  }
  void forgetReads() {
    reads_ = 0;
    for (MemoryPiece& piece : head_.reads) piece = {};
  }
  void willFinish(const FinalValues& values, const Box& declared) {
    announced_.push_back({values, declared});
  }
  bool looksAt(const std::int64_t* words) const {
    return std::find(looked_.begin(), looked_.end(), words) != looked_.end();
  }
  /// The body's loops from now on read that.
  void willRead(const MemoryPiece& piece) {
    if (reads_ < kPrefetches) head_.reads[reads_++] = piece;
  }

  Place add(const char* name, const Box& box, const void* closure, const DeviceLoopType& type) {
    const std::int32_t at = find(name, type);
    LoopBucket& bucket = buckets_[static_cast<std::size_t>(at)];
    const auto stride = static_cast<std::size_t>(bucket.stride);
    const std::size_t begin = stride * static_cast<std::size_t>(bucket.count);
    if (bucket.entries.size() < begin + stride) bucket.entries.resize(2 * (begin + stride));
    std::byte* entry = bucket.entries.data() + begin;
    head_.box = box;
    if (type.resultWords == 0) takeFinals();
    std::memcpy(entry, &head_, sizeof(head_));
    if (keepsClosures_) {
      type.keep(entry + sizeof(DeviceLoopHead), closure);
    } else {
      std::memcpy(entry + sizeof(DeviceLoopHead), closure, static_cast<std::size_t>(type.closureBytes));
    }
    widen(bucket.largest, box, parts_);
    return {at, bucket.count++};
  }

  /// In the order of their places: those that may run at once follow each
  /// other.
  std::span<LoopBucket* const> inOrder();
  const LoopBucket& operator[](std::int32_t n) const { return buckets_[static_cast<std::size_t>(n)]; }

 private:
  struct Announced {
    FinalValues values;
    Box declared;
  };

  /// Puts what was announced for the loop of head_ there, as far as it is over all of it and there is room.
  void takeFinals() {
    int used = 0;
    for (const Announced& a : announced_) {
      if (used == kFinalValues || !(a.declared == head_.box)) continue;
      head_.finals[used++] = a.values;
      looked_.push_back(a.values.findings.words);
    }
    announced_.clear();
    while (used < kFinalValues) head_.finals[used++] = {};
  }
  /// The bucket of the body's next loop. Most bodies are like the one before:
  /// the next bucket is the right one.
  std::int32_t find(const char* name, const DeviceLoopType& type) {
    const std::int32_t place = staysAtPlace_ ? place_ : place_++;
    const auto fits = [&](std::int32_t n) { return (*this)[n].place == place && (*this)[n].type == &type; };
    std::int32_t at = staysAtPlace_ && next_ > 0 ? next_ - 1 : next_;
    if (at >= used_ || !fits(at)) {
      for (at = 0; at < used_ && !fits(at);) ++at;
    }
    if (at == used_) open(place, name, type);
    next_ = at + 1;
    return at;
  }
  void open(std::int32_t place, const char* name, const DeviceLoopType& type);

  bool keepsClosures_;
  std::vector<LoopBucket> buckets_;
  std::vector<LoopBucket*> order_;
  std::int32_t used_ = 0;
  std::int32_t parts_ = 1;
  std::int32_t place_ = 0;  ///< of the body's next loop
  bool staysAtPlace_ = false;
  DeviceLoopHead head_;     ///< likewise
  std::int32_t reads_ = 0;  ///< of head_
  std::int32_t next_ = 0;   ///< bucket that it probably belongs to
  std::vector<Announced> announced_;
  std::vector<const std::int64_t*> looked_;  ///< findings of what loops of this body look at
};

}  // namespace tessera::detail
