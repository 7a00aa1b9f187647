#include "datawarehouse/moves/region_copy.hpp"

#include <cstring>
#include <utility>

namespace tessera {
namespace {

using Side = StridedCopy::Side;

Side sideOf(const Layout& layout, Index first, std::int64_t elementBytes) {
  return {layout.at(first) * elementBytes, layout.strideJ * elementBytes, layout.strideK * elementBytes};
}

/// The rows of a packed region follow one another.
Side packedSide(Extent n, std::int64_t elementBytes) {
  return {0, n.i * elementBytes, n.i * n.j * elementBytes};
}

/// One long loop inside is better than a long one outside.
StridedCopy copyOf(Extent n, std::int64_t elementBytes, Side to, Side from) {
  if (n.j == 1) {
    std::swap(n.j, n.k);
    std::swap(to.stride, to.plane);
    std::swap(from.stride, from.plane);
  }
  return {to, from, n.i * elementBytes, n.j, n.k};
}

/// Halos are a few elements thick, so along x most rows are that short: `copy` with a length that the
/// compiler knows is a move or two, where a call of memcpy would cost more than the bytes.
template <class CopyRow>
void copyEach(const StridedCopy& copy, std::byte* to, const std::byte* from, CopyRow&& copyRow) {
  // Values of our own: the compiler cannot know that a store does not change the list.
  const auto [toFirst, toStride, toPlane] = copy.to;
  const auto [fromFirst, fromStride, fromPlane] = copy.from;
  const std::int64_t rows = copy.rows;
  const std::int64_t planes = copy.planes;
  for (std::int64_t k = 0; k < planes; ++k) {
    std::byte* t = to + toFirst + k * toPlane;
    const std::byte* f = from + fromFirst + k * fromPlane;
    for (std::int64_t j = 0; j < rows; ++j, t += toStride, f += fromStride) copyRow(t, f);
  }
}

template <std::size_t Bytes>
struct CopyFixed {
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

}  // namespace

void StridedCopy::run(std::byte* toMemory, const std::byte* fromMemory) const {
  switch (rowBytes) {
    case 4:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<4>{});
    case 8:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<8>{});
    case 16:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<16>{});
    case 24:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<24>{});
    case 32:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<32>{});
    case 64:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<64>{});
    case 128:
      return copyEach(*this, toMemory, fromMemory, CopyFixed<128>{});
    default:
      copyEach(*this, toMemory, fromMemory,
               [bytes = static_cast<std::size_t>(rowBytes)](auto* t, auto* f) { std::memcpy(t, f, bytes); });
  }
}

StridedCopy stridedCopy(const Layout& to, const Layout& from, const Box& region, Index shift,
                        std::int64_t elementBytes) {
  return copyOf(region.extent(), elementBytes, sideOf(to, region.lo, elementBytes),
                sideOf(from, region.lo - shift, elementBytes));
}

void copyRegion(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes) {
  if (region.empty()) return;
  stridedCopy(toLayout, fromLayout, region, shift, elementBytes).run(to, from);
}

void packRegion(std::span<std::byte> packed, const std::byte* from, const Layout& layout, const Box& region,
                std::int64_t elementBytes) {
  if (region.empty()) return;
  copyOf(region.extent(), elementBytes, packedSide(region.extent(), elementBytes),
         sideOf(layout, region.lo, elementBytes))
      .run(packed.data(), from);
}

void unpackRegion(std::byte* to, const Layout& layout, const Box& region, std::span<const std::byte> packed,
                  std::int64_t elementBytes) {
  if (region.empty()) return;
  copyOf(region.extent(), elementBytes, sideOf(layout, region.lo, elementBytes),
         packedSide(region.extent(), elementBytes))
      .run(to, packed.data());
}

}  // namespace tessera
