#include "datawarehouse/region_copy.hpp"

#include <cstring>

namespace tessera {
namespace {

/// Where the rows of a region start, in bytes, and how far apart they are.
template <class Byte>
struct Rows {
  Byte* first;
  std::int64_t strideJ;
  std::int64_t strideK;
};

template <class Byte>
Rows<Byte> rowsOf(Byte* data, const Layout& layout, Index first, std::int64_t elementBytes) {
  return {data + layout.at(first) * elementBytes, layout.strideJ * elementBytes,
          layout.strideK * elementBytes};
}

/// The rows of a packed region follow one another.
template <class Byte>
Rows<Byte> packedRows(Byte* data, Extent n, std::int64_t elementBytes) {
  return {data, n.i * elementBytes, n.i * n.j * elementBytes};
}

/// Halos are a few elements thick, so along x most rows are that short: `copy` with a length that the
/// compiler knows is a move or two, where a call of memcpy would cost more than the bytes.
template <class Copy>
void copyEach(Extent n, const Rows<std::byte>& to, const Rows<const std::byte>& from, Copy&& copy) {
  for (std::int64_t k = 0; k < n.k; ++k) {
    std::byte* t = to.first + k * to.strideK;
    const std::byte* f = from.first + k * from.strideK;
    for (std::int64_t j = 0; j < n.j; ++j, t += to.strideJ, f += from.strideJ) copy(t, f);
  }
}

template <std::size_t Bytes>
struct CopyFixed {
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

void copyRows(Extent n, std::int64_t elementBytes, const Rows<std::byte>& to,
              const Rows<const std::byte>& from) {
  const auto bytes = static_cast<std::size_t>(n.i * elementBytes);
  switch (bytes) {
    case 4:
      return copyEach(n, to, from, CopyFixed<4>{});
    case 8:
      return copyEach(n, to, from, CopyFixed<8>{});
    case 16:
      return copyEach(n, to, from, CopyFixed<16>{});
    case 24:
      return copyEach(n, to, from, CopyFixed<24>{});
    case 32:
      return copyEach(n, to, from, CopyFixed<32>{});
    case 64:
      return copyEach(n, to, from, CopyFixed<64>{});
    case 128:
      return copyEach(n, to, from, CopyFixed<128>{});
    default:
      copyEach(n, to, from, [bytes](std::byte* t, const std::byte* f) { std::memcpy(t, f, bytes); });
  }
}

}  // namespace

void copyRegion(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes) {
  if (region.empty()) return;
  copyRows(region.extent(), elementBytes, rowsOf(to, toLayout, region.lo, elementBytes),
           rowsOf(from, fromLayout, region.lo - shift, elementBytes));
}

void packRegion(std::span<std::byte> packed, const std::byte* from, const Layout& layout, const Box& region,
                std::int64_t elementBytes) {
  if (region.empty()) return;
  copyRows(region.extent(), elementBytes, packedRows(packed.data(), region.extent(), elementBytes),
           rowsOf(from, layout, region.lo, elementBytes));
}

void unpackRegion(std::byte* to, const Layout& layout, const Box& region, std::span<const std::byte> packed,
                  std::int64_t elementBytes) {
  if (region.empty()) return;
  copyRows(region.extent(), elementBytes, rowsOf(to, layout, region.lo, elementBytes),
           packedRows(packed.data(), region.extent(), elementBytes));
}

}  // namespace tessera
