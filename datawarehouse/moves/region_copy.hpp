#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/geometry/box.hpp"
#include "datawarehouse/field.hpp"

namespace tessera {

/// A copy of rows of equal length between two pieces of memory, worked out beforehand; all in bytes. Cheap to
/// carry out many times, and from other memory of the same layout.
struct StridedCopy {
  /// Where the rows lie in one of the two.
  struct Side {
    std::int64_t first = 0;   ///< of the first row, from the begin of the memory
    std::int64_t stride = 0;  ///< from a row to the next
    std::int64_t plane = 0;   ///< from a plane of rows to the next
    friend bool operator==(const Side&, const Side&) = default;
  };
  Side to;
  Side from;
  std::int64_t rowBytes = 0;
  std::int64_t rows = 0;  ///< of a plane; the longer one of the two loops where one is of a single pass
  std::int64_t planes = 0;

  void run(std::byte* toMemory, const std::byte* fromMemory) const;
  friend bool operator==(const StridedCopy&, const StridedCopy&) = default;
};

/// The copy of `region` (indices of the destination) from another patch, whose indices are those minus
/// `shift`.
StridedCopy stridedCopy(const Layout& to, const Layout& from, const Box& region, Index shift,
                        std::int64_t elementBytes);

/// Carries such a copy out.
void copyRegion(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes);

/// Writes `region` of a patch into `packed`, x fastest; `packed` has region.volume() elements.
void packRegion(std::span<std::byte> packed, const std::byte* from, const Layout& layout, const Box& region,
                std::int64_t elementBytes);

/// The reverse of packRegion.
void unpackRegion(std::byte* to, const Layout& layout, const Box& region, std::span<const std::byte> packed,
                  std::int64_t elementBytes);

}  // namespace tessera
