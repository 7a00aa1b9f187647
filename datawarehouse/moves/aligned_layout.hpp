#pragma once

#include <cstdint>

#include "datawarehouse/field.hpp"

namespace tessera {

/// A layout in memory of a device, whose rows are padded so that the first interior cell of each is the first
/// element of a sector, the piece in which a GPU moves memory. Without it a row of 32 cells touches nine or
/// ten sectors instead of eight, and each write of one is two halves.
struct AlignedLayout {
  Layout layout;  ///< its element 0 is `lead` elements behind the start of the memory
  std::int64_t lead = 0;
  std::int64_t elements = 0;  ///< of one component, with `lead`
  /// To allocate.
  std::int64_t bytes(const ElementType& type) const {
    return (elements + (type.planes() - 1) * layout.strideC) * type.elementBytes();
  }
};

/// Elements of 8 bytes in a sector.
inline constexpr std::int64_t kSectorElements = 4;

/// `plain` with padded rows, for work on the cells of `interior`, a box inside its window. Axes of stride 0
/// keep it.
AlignedLayout alignRows(const Layout& plain, const Box& interior, std::int64_t sector = kSectorElements);

}  // namespace tessera
