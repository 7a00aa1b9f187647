#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"
#include "scheduler/solvers/device/solver_device.hpp"
#include "scheduler/solvers/grid_boxes.hpp"

namespace tessera {

/// One number for each cell of the own boxes of a solver's level, with a layer of cells around each box;
/// all are 0 at first. The layer beyond the domain stays as its owner leaves it. They lie on the device that
/// the boxes name, which outlives them, or on the host.
class CellNumbers {
 public:
  CellNumbers() = default;
  explicit CellNumbers(const GridBoxes& grid);

  /// Whether it was made without a grid.
  bool isEmpty() const { return isEmpty_; }
  std::size_t boxes() const { return layouts_.size(); }
  /// Of own box number `n`, counted from 0.
  Field<double> field(std::size_t n) { return {data_ + offsets_[n], layouts_[n]}; }
  Field<const double> field(std::size_t n) const { return {data_ + offsets_[n], layouts_[n]}; }
  /// For loops that change none of its numbers.
  ReadOnlyField<double> reads(std::size_t n) const { return {data_ + offsets_[n], layouts_[n]}; }
  double* data(std::size_t n) { return data_ + offsets_[n]; }
  const double* data(std::size_t n) const { return data_ + offsets_[n]; }
  /// Of the box and its layer.
  const Layout& layout(std::size_t n) const { return layouts_[n]; }

  /// All numbers, layers included, become those of `other`, which is on the same boxes.
  void takeOver(const CellNumbers& other);
  /// Of numbers on the same boxes: whether all have the same bits on this rank, layers included.
  bool isSame(const CellNumbers& other) const;
  void fill(double number);
  /// All of them where they are on the host.
  std::span<double> onHost();

 private:
  std::vector<Layout> layouts_;
  std::vector<std::size_t> offsets_;
  std::size_t size_ = 0;
  bool isEmpty_ = true;
  SolverDevice* device_ = nullptr;
  std::vector<double> memory_;      ///< on the host
  SolverDevice::Numbers onDevice_;  ///< or there
  double* data_ = nullptr;
};

}  // namespace tessera
