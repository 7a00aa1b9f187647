#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/exact_sum.hpp"
#include "core/exec/device_exec.hpp"
#include "core/exec/exec.hpp"
#include "core/geometry/box.hpp"
#include "scheduler/solvers/device/solver_device.hpp"
#include "scheduler/solvers/grid_boxes.hpp"
#include "scheduler/solvers/loops/recorded_loops.hpp"

// Loops of solvers, from one source for the host and for devices. A kernel is a struct of plain values with
//
//   static constexpr const char* kName = "Solver::apply";
//   TESSERA_KERNEL void operator()(Index x) const;
//
// and has its line in solver_kernels.cpp, which nvcc compiles in a build with CUDA. What goes over large
// levels in each iteration says so by `static constexpr bool kStreams = true`.

namespace tessera {

/// Runs a loop on the host at once, or records it for a device. There loops that no `nextPlace`
/// (`forEachOwnBox`) comes between may run at the same time.
template <class Kernel>
void solverLoop(SolverDevice* device, const Box& box, const Kernel& kernel) {
  if (device == nullptr) return forEach(Cpu{}, Kernel::kName, box, kernel);
  recordLoop(device->loops(), box, kernel);
}

/// Calls `work(own box number, box)`. Its loops on one box use nothing that they write on another.
template <class Work>
void forEachOwnBox(const GridBoxes& grid, const Work& work) {
  if (grid.device != nullptr) grid.device->nextPlace();
  for (std::size_t n = 0; n < grid.own.size(); ++n) work(n, grid.boxes[grid.own[n]]);
}

/// The exact sum of what kernels give on some boxes of this rank. `value` waits for a device; several of
/// these are asked in the order in which they were added to.
class SumOnBoxes {
 public:
  explicit SumOnBoxes(SolverDevice* device) : device_(device) {
    if (device_ != nullptr) device_->nextPlace();
  }
  template <class Kernel>
  void add(const Box& box, const Kernel& kernel) {
    if (device_ == nullptr) return sum_.add(reduce(Cpu{}, Kernel::kName, box, Sum, kernel));
    recordReduction(device_->loops(), box, kernel, Sum);
    ++boxes_;
  }
  ExactSum value() {
    if (boxes_ > 0) device_->run();
    for (; boxes_ > 0; --boxes_) sum_.add(detail::DeviceSum::ofParts(device_->nextWords()));
    return sum_;
  }

 private:
  SolverDevice* device_;
  ExactSum sum_;
  int boxes_ = 0;  ///< on a device, that were not asked for
};

/// The smallest or the largest of `start` and what kernels give on some boxes of this rank, as SumOnBoxes.
template <bool kLargest>
class ExtremeOnBoxes {
 public:
  ExtremeOnBoxes(SolverDevice* device, double start) : device_(device), best_(start) {
    if (device_ != nullptr) device_->nextPlace();
  }
  template <class Kernel>
  void add(const Box& box, const Kernel& kernel) {
    if (device_ == nullptr) return note(reduce(Cpu{}, Kernel::kName, box, Tag{}, kernel));
    recordReduction(device_->loops(), box, kernel, Tag{});
    ++boxes_;
  }
  double value() {
    if (boxes_ > 0) device_->run();
    for (; boxes_ > 0; --boxes_) note(detail::Extreme<kLargest>::ofParts(device_->nextWords()));
    return best_;
  }

 private:
  using Tag = std::conditional_t<kLargest, MaxTag, MinTag>;
  void note(double other) { best_ = kLargest ? std::max(best_, other) : std::min(best_, other); }

  SolverDevice* device_;
  double best_;
  int boxes_ = 0;
};
using Largest = ExtremeOnBoxes<true>;
using Least = ExtremeOnBoxes<false>;

}  // namespace tessera
