#pragma once

#include <cstdint>

namespace tessera {

/// Which patch of a launch comes first. Cells are independent, so it changes no result; but a launch that
/// goes the other way than the one which wrote what it reads finds the end of that still in the cache.
enum class PatchOrder : std::uint8_t { Rising, Falling };

constexpr PatchOrder opposite(PatchOrder order) {
  return order == PatchOrder::Rising ? PatchOrder::Falling : PatchOrder::Rising;
}

}  // namespace tessera
