#pragma once

#include <cstddef>
#include <vector>

#include "datawarehouse/field.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {

/// One number for each cell of the own boxes of a solver's level, with a layer of cells around each box;
/// all are 0 at first. The layer beyond the domain stays as its owner leaves it.
class CellNumbers {
 public:
  CellNumbers() = default;
  explicit CellNumbers(const GridBoxes& grid);

  std::size_t boxes() const { return layouts_.size(); }
  /// Of own box number `n`, counted from 0.
  Field<double> field(std::size_t n) { return {memory_.data() + offsets_[n], layouts_[n]}; }
  Field<const double> field(std::size_t n) const { return {memory_.data() + offsets_[n], layouts_[n]}; }
  const double* data(std::size_t n) const { return memory_.data() + offsets_[n]; }
  /// Of the box and its layer.
  const Layout& layout(std::size_t n) const { return layouts_[n]; }
  /// All numbers, layers included.
  std::vector<double>& all() { return memory_; }
  const std::vector<double>& all() const { return memory_; }

 private:
  std::vector<Layout> layouts_;
  std::vector<std::size_t> offsets_;
  std::vector<double> memory_;
};

}  // namespace tessera
