#pragma once

#include <cstdint>

#include "datawarehouse/table_view.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

namespace detail {

/// Throws UndeclaredAccess: the task does not say that it reads the table.
[[noreturn]] void reportUndeclaredTable(const TaskFrame& frame, TableLabel table);
/// Throws UndeclaredAccess: the table has no such place.
[[noreturn]] void reportOutsideTable(const TaskFrame& frame, TableLabel table, std::int64_t place);

}  // namespace detail

/// A constant table in checked mode: a place outside of it is reported with task and table.
class CheckedTable {
 public:
  /// `frame` outlives the view.
  CheckedTable(const TaskFrame& frame, TableLabel label, const TableView& table)
      : frame_(&frame), label_(label), table_(table) {}

  double operator[](std::int64_t n) const {
    if (n < 0 || n >= table_.size()) detail::reportOutsideTable(*frame_, label_, n);
    return table_[n];
  }
  std::int64_t size() const { return table_.size(); }

 private:
  const TaskFrame* frame_;
  TableLabel label_;
  TableView table_;
};

}  // namespace tessera
