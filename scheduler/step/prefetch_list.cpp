#include "scheduler/step/prefetch_list.hpp"

namespace tessera::detail {

PrefetchList::PrefetchList(const std::vector<StridedCopy>& copies) {
  for (const StridedCopy& copy : copies) {
    add(copy);
    ends_.push_back(lines_.size());
  }
}

/// What a copy reads begins at a line, as all memory of the warehouse does. A row that begins elsewhere in a
/// line than the first one may miss its last line.
void PrefetchList::add(const StridedCopy& copy) {
  StridedCopy::Side from = copy.from;
  std::int64_t bytes = copy.rowBytes;
  std::int64_t rows = copy.rows;
  std::int64_t planes = copy.planes;
  if (planes > 1 && from.plane == from.stride * rows) {
    rows *= planes;
    planes = 1;
  }
  if (planes == 1 && from.stride == bytes) {
    bytes *= rows;
    rows = 1;
  }
  const std::int64_t begin = from.first - from.first % kLine;
  const std::int64_t ofRow = (from.first + bytes - begin + kLine - 1) / kLine;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const std::int64_t first = begin + plane * from.plane;
    if (rows == 1) {
      lines_.push_back({first, kLine, ofRow});
      continue;
    }
    for (std::int64_t line = 0; line < ofRow; ++line)
      lines_.push_back({first + line * kLine, from.stride, rows});
  }
}

}  // namespace tessera::detail
