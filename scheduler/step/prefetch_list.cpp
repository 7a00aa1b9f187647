#include "scheduler/step/prefetch_list.hpp"

#include <utility>

namespace tessera::detail {

PrefetchList::PrefetchList(const std::vector<RegionOp>& copies) {
  for (const RegionOp& copy : copies) {
    add(copy);
    ends_.push_back(lines_.size());
  }
}

/// What a copy reads begins at a line, as all memory of the warehouse does. A row that begins elsewhere in a
/// line than the first one may miss its last line.
void PrefetchList::add(const RegionOp& copy) {
  std::int64_t bytes = std::int64_t{copy.rowWords} * copy.wordBytes;
  std::int64_t rows = copy.rows;
  std::int64_t planes = copy.planes;
  std::int64_t stride = copy.fromJ;
  if (rows == 1) {
    std::swap(rows, planes);
    stride = copy.fromK;
  } else if (planes > 1 && copy.fromK == stride * rows) {
    rows *= planes;
    planes = 1;
  }
  if (planes == 1 && stride == bytes) {
    bytes *= rows;
    rows = 1;
  }
  const std::int64_t begin = copy.fromFirst - copy.fromFirst % kLine;
  const std::int64_t ofRow = (copy.fromFirst + bytes - begin + kLine - 1) / kLine;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const std::int64_t first = begin + plane * copy.fromK;
    if (rows == 1) {
      lines_.push_back({first, kLine, ofRow});
      continue;
    }
    for (std::int64_t line = 0; line < ofRow; ++line) lines_.push_back({first + line * kLine, stride, rows});
  }
}

}  // namespace tessera::detail
