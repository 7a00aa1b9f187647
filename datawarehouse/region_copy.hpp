#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/box.hpp"
#include "datawarehouse/field.hpp"

namespace tessera {

/// Copies `region` (indices of the destination) from another patch, whose indices are those minus `shift`.
void copyRegion(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes);

/// Writes `region` of a patch into `packed`, x fastest; `packed` has region.volume() elements.
void packRegion(std::span<std::byte> packed, const std::byte* from, const Layout& layout, const Box& region,
                std::int64_t elementBytes);

/// The reverse of packRegion.
void unpackRegion(std::byte* to, const Layout& layout, const Box& region, std::span<const std::byte> packed,
                  std::int64_t elementBytes);

}  // namespace tessera
