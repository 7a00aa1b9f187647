#include "scheduler/detail/read_ahead.hpp"

namespace tessera::detail {

FetchList::FetchList(const std::vector<StridedCopy>& copies) {
  constexpr std::int64_t kLine = 64;
  for (const StridedCopy& copy : copies) {
    rows_.push_back(joined(copy));
    const Rows& rows = rows_.back();
    bytes_ += rows.planes * rows.rows * ((rows.rowBytes + kLine - 1) / kLine) * kLine;
  }
}

FetchList::Rows FetchList::joined(const StridedCopy& copy) {
  Rows rows{copy.from, copy.rowBytes, copy.rows, copy.planes};
  if (rows.from.stride == rows.rowBytes) {
    rows.rowBytes *= rows.rows;
    rows.rows = 1;
  }
  if (rows.rows == 1 && rows.from.plane == rows.rowBytes) {
    rows.rowBytes *= rows.planes;
    rows.planes = 1;
  }
  return rows;
}

void FetchList::fetchRows(const Rows& rows, const std::byte* memory) {
  const std::byte* plane = memory + rows.from.first;
  for (std::int64_t k = 0; k < rows.planes; ++k, plane += rows.from.plane) {
    const std::byte* row = plane;
    for (std::int64_t j = 0; j < rows.rows; ++j, row += rows.from.stride)
      fetchLines(row, rows.rowBytes, FetchFor::Reading);
  }
}

}  // namespace tessera::detail
