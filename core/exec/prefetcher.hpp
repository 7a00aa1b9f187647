#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// Cache lines at equal distances.
struct PrefetchLines {
  const std::byte* first = nullptr;
  std::int64_t step = 0;  ///< bytes from a line to the next
  std::int64_t count = 0;
};

/// Memory that the next task will use, asked for a few cache lines at a time between the rows of this task's
/// loops. Asked for at once it would hold the processor up for as long as the memory takes, since a core can
/// wait for some twenty lines only. Changes no value. Used by one thread.
class Prefetcher {
 public:
  /// `lines`, which stay where they are meanwhile, shall be asked for within `rows` calls of `afterRow`.
  void begin(std::span<const PrefetchLines> lines, std::int64_t rows) {
    std::int64_t all = 0;
    for (const PrefetchLines& some : lines) all += some.count;
    each_ = (all + rows - 1) / rows;
    next_ = lines.data();
    end_ = lines.data() + lines.size();
    take();
  }

  /// Asks for the share of one row.
  void afterRow() {
    for (std::int64_t n = each_; n > 0 && left_ > 0; --n) __builtin_prefetch(pass(), 0, 2);
  }

  bool empty() const { return left_ == 0; }
  /// The next line, which is passed by; unless empty.
  const std::byte* pass() {
    const std::byte* line = at_;
    at_ += step_;
    if (--left_ == 0) take();
    return line;
  }

 private:
  void take() {
    for (; next_ != end_ && left_ == 0; ++next_) {
      at_ = next_->first;
      step_ = next_->step;
      left_ = next_->count;
    }
  }

  const std::byte* at_ = nullptr;
  std::int64_t step_ = 0;
  std::int64_t left_ = 0;  ///< from `at_` on
  std::int64_t each_ = 0;  ///< lines a row
  const PrefetchLines* next_ = nullptr;
  const PrefetchLines* end_ = nullptr;
};

}  // namespace tessera
