#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Calls visit(offset, count) for pieces that fit into one MPI call; once, with 0, where there is nothing.
template <class Visit>
void forEachPart(std::int64_t total, std::int64_t maxCount, const Visit& visit) {
  std::int64_t offset = 0;
  do {
    const std::int64_t count = std::min(maxCount, total - offset);
    visit(static_cast<std::ptrdiff_t>(offset), static_cast<int>(count));
    offset += count;
  } while (offset < total);
}

}  // namespace tessera::detail
