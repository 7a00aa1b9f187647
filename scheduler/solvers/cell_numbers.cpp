#include "scheduler/solvers/cell_numbers.hpp"

#include <algorithm>
#include <cstring>

#include "core/text/contracts.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

CellNumbers::CellNumbers(const GridBoxes& grid) : isEmpty_(false), device_(grid.device) {
  for (const std::size_t n : grid.own) {
    layouts_.emplace_back(grow(grid.boxes[n], grid.layer()), !grid.active[1], !grid.active[2]);
    offsets_.push_back(size_);
    size_ += static_cast<std::size_t>(layouts_.back().elements());
  }
  if (device_ != nullptr) {
    onDevice_ = device_->allocate(size_);
    data_ = onDevice_.get();
  } else {
    memory_.assign(size_, 0.0);
    data_ = memory_.data();
  }
}

void CellNumbers::takeOver(const CellNumbers& other) {
  TESSERA_EXPECT(size_ == other.size_ && device_ == other.device_, "take over numbers on the same boxes");
  if (device_ == nullptr) {
    std::copy_n(other.data_, size_, data_);
    return;
  }
  device_->nextPlace();
  for (std::size_t n = 0; n < boxes(); ++n)
    solverLoop(device_, layouts_[n].window, CopyCells{1.0, other.reads(n), field(n)});
}

bool CellNumbers::isSame(const CellNumbers& other) const {
  TESSERA_EXPECT(size_ == other.size_ && device_ == other.device_, "compare numbers on the same boxes");
  if (device_ == nullptr) return size_ == 0 || std::memcmp(data_, other.data_, size_ * sizeof(double)) == 0;
  Largest differs(device_, 0.0);
  for (std::size_t n = 0; n < boxes(); ++n)
    differs.add(layouts_[n].window, DiffersFrom{reads(n), other.reads(n)});
  return differs.value() == 0.0;
}

void CellNumbers::fill(double number) {
  if (device_ == nullptr) {
    std::fill_n(data_, size_, number);
    return;
  }
  device_->nextPlace();
  for (std::size_t n = 0; n < boxes(); ++n)
    solverLoop(device_, layouts_[n].window, SetCells{number, field(n)});
}

std::span<double> CellNumbers::onHost() {
  TESSERA_EXPECT(device_ == nullptr, "ask for numbers of the host");
  return memory_;
}

}  // namespace tessera
