#include "datawarehouse/moves/coarse_fill.hpp"

#include <cstring>

#include "grid/refine.hpp"

namespace tessera {

void fillFromCoarser(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                     const Box& region, Index shift, Extent ratio, std::int64_t elementBytes) {
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) {
        const Index x{i, j, k};
        const Index coarse = coarsen(x - shift, ratio);
        std::memcpy(to + toLayout.at(x) * elementBytes, from + fromLayout.at(coarse) * elementBytes,
                    static_cast<std::size_t>(elementBytes));
      }
    }
  }
}

}  // namespace tessera
