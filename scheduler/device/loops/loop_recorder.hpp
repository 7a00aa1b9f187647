#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/device_loops.hpp"
#include "core/text/contracts.hpp"
#include "scheduler/device/loops/loop_buckets.hpp"

namespace tessera::detail {

/// The first call of the bodies of a launch: takes their loops.
class LoopRecorder final : public DeviceLoops {
 public:
  /// A reduction among what was recorded.
  struct Reduction {
    std::int32_t number = 0;
    LoopBuckets::Place place;
  };

  explicit LoopRecorder(bool keepsClosures) : buckets_(keepsClosures) {}

  void begin(std::int32_t parts) {
    buckets_.begin(parts);
    reductions_.clear();
    asked_ = {};
  }
  void instance(std::int32_t number) {
    number_ = number;
    buckets_.beginBody();
  }
  void place(std::int32_t place) {
    number_ = 0;
    buckets_.beginPlace(place);
  }
  LoopBuckets& buckets() { return buckets_; }
  const std::vector<Reduction>& reductions() const { return reductions_; }
  /// Whether one of the bodies has asked for that number of the step.
  bool hasAsked(StepNumber number) const { return asked_[static_cast<std::size_t>(number)]; }

  bool finished() const override { return false; }
  void asksFor(StepNumber number) override { asked_[static_cast<std::size_t>(number)] = true; }
  void willRead(const MemoryPiece& piece) override { buckets_.willRead(piece); }
  void forgetReads() override { buckets_.forgetReads(); }
  void willFinish(const FinalValues& values, const Box& declared) override {
    buckets_.willFinish(values, declared);
  }
  bool looksAt(const std::int64_t* words) const override { return buckets_.looksAt(words); }
  void loop(const char* name, const Box& box, const void* closure, const DeviceLoopType& type) override {
    buckets_.add(name, box, closure, type);
  }
  std::span<const std::int64_t> reduce(const char* name, const Box& box, const void* closure,
                                       const DeviceLoopType& type) override {
    // A word of a sum grows by less than 2^32 with each cell.
    constexpr std::int64_t kMostCells = std::int64_t{1} << 30;
    TESSERA_EXPECT(type.resultWords <= 1 || box.volume() <= kMostCells,
                   "cut the domain into smaller patches: a sum on a device is "
                   "over at most 2^30 cells a patch");
    reductions_.push_back({number_, buckets_.add(name, box, closure, type)});
    return {};
  }

 private:
  LoopBuckets buckets_;
  std::vector<Reduction> reductions_;
  std::array<bool, 4> asked_{};  ///< by StepNumber
  std::int32_t number_ = 0;
};

/// The second call of a body: gives its reductions their words.
class FinishedLoops final : public DeviceLoops {
 public:
  /// To be filled: the words of all reductions of the instance, one after the
  /// other, and how many each has.
  std::vector<std::int64_t>& words() { return words_; }
  std::vector<std::int32_t>& counts() { return counts_; }
  void begin() { next_ = begin_ = 0; }

  bool finished() const override { return true; }
  void asksFor(StepNumber) override {}
  void willRead(const MemoryPiece&) override {}
  void forgetReads() override {}
  void willFinish(const FinalValues&, const Box&) override {}
  bool looksAt(const std::int64_t*) const override { return false; }
  void loop(const char*, const Box&, const void*, const DeviceLoopType&) override {}
  std::span<const std::int64_t> reduce(const char*, const Box&, const void*, const DeviceLoopType&) override {
    TESSERA_EXPECT(next_ < counts_.size(),
                   "let a task's body make the same reductions whatever values "
                   "they have: on a device it is "
                   "called once before these are known and once after");
    const auto count = static_cast<std::size_t>(counts_[next_++]);
    begin_ += count;
    return std::span(words_).subspan(begin_ - count, count);
  }

 private:
  std::vector<std::int64_t> words_;
  std::vector<std::int32_t> counts_;
  std::size_t next_ = 0;
  std::size_t begin_ = 0;
};

}  // namespace tessera::detail
