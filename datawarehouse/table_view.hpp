#pragma once

#include <cstdint>

#include "core/kernel.hpp"

namespace tessera {

/// The numbers of a constant table where a kernel runs, `task.table(label)`: copied into kernels by value,
/// and valid for the whole run. An index has to be in [0, size()); checked mode on the host looks at it.
class TableView {
 public:
  TableView() = default;
  TableView(const double* values, std::int64_t size) : values_(values), size_(size) {}

  TESSERA_KERNEL double operator[](std::int64_t n) const { return values_[n]; }
  TESSERA_KERNEL std::int64_t size() const { return size_; }
  const double* data() const { return values_; }

 private:
  const double* values_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace tessera
