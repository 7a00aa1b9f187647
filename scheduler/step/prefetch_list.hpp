#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/prefetcher.hpp"
#include "core/lock_free/atomics.hpp"
#include "datawarehouse/moves/region_op.hpp"

namespace tessera::detail {

/// The cache lines that a list of copies reads, joined where they lie at equal distances. Settled once.
class PrefetchList {
 public:
  static constexpr auto kLine = static_cast<std::int64_t>(kCacheLine);  ///< bytes

  PrefetchList() = default;
  explicit PrefetchList(const std::vector<RegionOp>& copies);

  /// Appends them to `to`, in the order of the copies; `memoryOf(n)` is where copy n reads, null to leave it
  /// out.
  template <class MemoryOf>
  void addTo(std::vector<PrefetchLines>& to, MemoryOf&& memoryOf) const {
    for (std::size_t n = 0, entry = 0; n < ends_.size(); entry = ends_[n++]) {
      const std::byte* memory = memoryOf(n);
      if (memory == nullptr) continue;
      for (std::size_t e = entry; e < ends_[n]; ++e) {
        const Lines& lines = lines_[e];
        to.push_back({memory + lines.first, lines.step, lines.count});
      }
    }
  }
  /// Of how many copies it is.
  std::size_t count() const { return ends_.size(); }
  /// How many entries `addTo` appends at the most.
  std::size_t size() const { return lines_.size(); }

 private:
  struct Lines {
    std::int64_t first = 0;  ///< bytes from where the copy reads
    std::int64_t step = 0;   ///< bytes from a line to the next
    std::int64_t count = 0;
  };
  void add(const RegionOp& copy);

  std::vector<Lines> lines_;
  std::vector<std::size_t> ends_;  ///< by copy, in `lines_`
};

}  // namespace tessera::detail
