#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datawarehouse/region_copy.hpp"

namespace tessera::detail {

enum class FetchFor : std::uint8_t { Reading, Writing };

/// Asks for memory to be brought into the second nearest cache; changes nothing.
inline void fetchLines(const std::byte* memory, std::int64_t bytes, FetchFor what) {
  constexpr std::uintptr_t kLine = 64;  // bytes
  const std::byte* line = memory - reinterpret_cast<std::uintptr_t>(memory) % kLine;
  for (; line < memory + bytes; line += kLine) {
    if (what == FetchFor::Reading) {
      __builtin_prefetch(line, 0, 2);
    } else {
      __builtin_prefetch(line, 1, 2);
    }
  }
}

/// The rows that a list of copies reads, joined where they follow one another. Settled once.
class FetchList {
 public:
  FetchList() = default;
  explicit FetchList(const std::vector<StridedCopy>& copies);

  /// `memoryOf(n)` is where copy n reads.
  template <class MemoryOf>
  void fetch(MemoryOf&& memoryOf) const {
    std::size_t n = 0;
    for (const Rows& rows : rows_) fetchRows(rows, memoryOf(n++));
  }
  /// Of cache lines that it asks for, about.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Rows {
    StridedCopy::Side from;
    std::int64_t rowBytes = 0;
    std::int64_t rows = 0;
    std::int64_t planes = 0;
  };
  static Rows joined(const StridedCopy& copy);
  static void fetchRows(const Rows& rows, const std::byte* memory);

  std::vector<Rows> rows_;  ///< by copy
  std::int64_t bytes_ = 0;
};

}  // namespace tessera::detail
