#pragma once

#include <cstdint>
#include <vector>

namespace tessera::detail {

/// Puts distinct numbers below a bound into rising order, in time that grows with how many there are where
/// they lie close together, and not at all with their disorder.
class RisingOrder {
 public:
  explicit RisingOrder(std::size_t bound) : marks_(bound / 64 + 1, 0) {}

  void sort(std::vector<std::int32_t>& numbers);

 private:
  std::vector<std::uint64_t> marks_;  ///< a bit a number; all zero between calls
};

}  // namespace tessera::detail
