#include "datawarehouse/region_copy.hpp"

#include <cstring>

namespace tessera {
namespace {

template <class Row>
void forEachRow(const Box& region, Row&& row) {
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) row(Index{region.lo.i, j, k});
  }
}

}  // namespace

void copyRegion(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes) {
  const auto bytes = static_cast<std::size_t>(region.extent().i * elementBytes);
  forEachRow(region, [&](Index x) {
    std::memcpy(to + toLayout.at(x) * elementBytes, from + fromLayout.at(x - shift) * elementBytes, bytes);
  });
}

void packRegion(std::span<std::byte> packed, const std::byte* from, const Layout& layout, const Box& region,
                std::int64_t elementBytes) {
  const auto bytes = static_cast<std::size_t>(region.extent().i * elementBytes);
  std::size_t at = 0;
  forEachRow(region, [&](Index x) {
    std::memcpy(packed.data() + at, from + layout.at(x) * elementBytes, bytes);
    at += bytes;
  });
}

void unpackRegion(std::byte* to, const Layout& layout, const Box& region, std::span<const std::byte> packed,
                  std::int64_t elementBytes) {
  const auto bytes = static_cast<std::size_t>(region.extent().i * elementBytes);
  std::size_t at = 0;
  forEachRow(region, [&](Index x) {
    std::memcpy(to + layout.at(x) * elementBytes, packed.data() + at, bytes);
    at += bytes;
  });
}

}  // namespace tessera
