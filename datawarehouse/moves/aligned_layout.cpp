#include "datawarehouse/moves/aligned_layout.hpp"

namespace tessera {

AlignedLayout alignRows(const Layout& plain, const Box& interior, std::int64_t sector) {
  const Extent n = plain.window.extent();
  const std::int64_t before = (interior.lo.i - plain.window.lo.i) % sector;
  AlignedLayout aligned{plain, before == 0 ? 0 : sector - before, 0};
  const std::int64_t row = (n.i + sector - 1) / sector * sector;
  const std::int64_t rows = plain.strideJ == 0 ? 1 : n.j;
  const std::int64_t planes = plain.strideK == 0 ? 1 : n.k;
  if (plain.strideJ != 0) aligned.layout.strideJ = row;
  if (plain.strideK != 0) aligned.layout.strideK = row * rows;
  aligned.layout.strideC = row * rows * planes;
  aligned.elements = aligned.lead + aligned.layout.strideC;
  return aligned;
}

}  // namespace tessera
