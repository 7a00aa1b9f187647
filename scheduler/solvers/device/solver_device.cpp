#include "scheduler/solvers/device/solver_device.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr const char* kOwner = "a linear solve";

std::int64_t bytesOf(std::size_t count) { return static_cast<std::int64_t>(count * sizeof(double)); }

}  // namespace

SolverDevice::Batch::Batch(SolverDevice& solver)
    : loops(solver.device_.backend, solver.device_.tables, solver.device_.pinned, solver.stream_, 1) {}

SolverDevice::SolverDevice(const DeviceAccess& device)
    : device_(device), stream_((device.backend.bindThread(), device.backend.makeStream())) {}

SolverDevice::~SolverDevice() {
  try {
    device_.backend.bindThread();
    device_.backend.synchronize(stream_);
  } catch (const Error&) {
    isBusy_ = false;  // it was said when it happened
  }
  for (const auto& [section, batches] : batches_) {
    for (const auto& batch : batches)
      if (batch->graph.number >= 0) device_.backend.releaseGraph(batch->graph);
  }
}

void SolverDevice::Return::operator()(double* numbers) const { pool->free(device->stream_, numbers); }

SolverDevice::Numbers SolverDevice::allocate(std::size_t count) {
  if (count == 0) return {};
  void* memory = device_.values.allocate(stream_, bytesOf(count), kOwner);
  device_.backend.fill(stream_, memory, 0, bytesOf(count));
  return {static_cast<double*>(memory), Return{this, &device_.values}};
}

SolverDevice::Numbers SolverDevice::allocatePinned(std::size_t count) {
  if (count == 0) return {};
  void* memory = device_.pinned.allocate(stream_, bytesOf(count), kOwner);
  return {static_cast<double*>(memory), Return{this, &device_.pinned}};
}

void SolverDevice::begin(Section section) {
  device_.backend.bindThread();
  run();
  section_ = section;
  number_ = 0;
}

SolverDevice::Batch& SolverDevice::current() {
  auto& batches = batches_[section_];
  if (number_ == batches.size()) batches.push_back(std::make_unique<Batch>(*this));
  return *batches[number_];
}

void SolverDevice::nextPlace() {
  if (isOpen_) ++place_;
}

DeviceLoops& SolverDevice::loops() {
  Batch& batch = current();
  if (!isOpen_) {
    batch.loops.begin();
    isOpen_ = true;
    place_ = 0;
  }
  return batch.loops.place(place_);
}

void SolverDevice::launch() {
  if (!isOpen_) return;
  DeviceBackend& backend = device_.backend;
  Batch& batch = current();
  const bool hasComeBefore = batch.loops.fits();
  if (!hasComeBefore && batch.graph.number >= 0) {
    backend.releaseGraph(batch.graph);
    batch.graph = {};
  }
  batch.loops.keep();
  batch.loops.upload(stream_);
  traffic_.bytes += batch.loops.bytes();
  if (hasComeBefore && batch.graph.number < 0) {
    backend.beginCapture(stream_);
    batch.loops.put({&stream_, 1});
    batch.graph = backend.endCapture();
  }
  if (batch.graph.number >= 0) {
    backend.launchGraph(stream_, batch.graph, kOwner);
  } else {
    batch.loops.put({&stream_, 1});
  }
  launched_ = &batch.loops;
  ++number_;
  isOpen_ = false;
  isBusy_ = true;
}

void SolverDevice::wait() {
  if (!isBusy_) return;
  device_.backend.synchronize(stream_);
  if (launched_ != nullptr) finished_ = &std::exchange(launched_, nullptr)->finished(0);
  ++traffic_.waits;
  isBusy_ = false;
}

std::span<const std::int64_t> SolverDevice::nextWords() {
  static const DeviceLoopType kAny{};
  const auto words = finished_->reduce("", {}, nullptr, kAny);
  traffic_.bytes += static_cast<std::int64_t>(words.size_bytes());
  return words;
}

void SolverDevice::copyToDevice(double* to, const double* pinned, std::size_t count) {
  if (count == 0) return;
  device_.backend.copy(stream_, CopyDirection::HostToDevice, to, pinned, bytesOf(count));
  traffic_.bytes += bytesOf(count);
  isBusy_ = true;
}

void SolverDevice::copyToHost(double* pinned, const double* from, std::size_t count) {
  if (count == 0) return;
  device_.backend.copy(stream_, CopyDirection::DeviceToHost, pinned, from, bytesOf(count));
  traffic_.bytes += bytesOf(count);
  isBusy_ = true;
}

}  // namespace tessera
