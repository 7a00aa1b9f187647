#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tessera::detail {

/// Zero bytes in whole pages that hold nothing else, so that others may lock them in place.
class PageMemory {
 public:
  PageMemory() = default;
  /// Throws std::bad_alloc.
  explicit PageMemory(std::int64_t bytes);

  std::byte* data() const { return memory_.get(); }
  /// In whole pages.
  std::span<std::byte> pages() const { return {memory_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t bytes_ = 0;
};

/// Pieces that lie one behind the other in such memory, each in cache lines of its own.
constexpr std::int64_t inCacheLines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace tessera::detail
