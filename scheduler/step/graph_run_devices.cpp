// The part of GraphRun that has to do with devices.
#include <limits>

#include "scheduler/step/graph_run.hpp"

namespace tessera::detail {

void GraphRun::takePlaces(const RankDevices& devices) {
  placed_ = &devices.placed(plan_);
  rankDevices_ = &devices;
  for (std::size_t slot = 0; slot < devices.sides().size(); ++slot) {
    devices.sides()[slot]->backend->bindThread();
    devices_.push_back(
        std::make_unique<DeviceRun>(graphs_, plan_, data_, devices, slot, pump_, frames_, inputs_, options_));
  }
  DeviceRun::join(devices_);
  launches_.reset();
  if (devices_.size() > 1) launches_.emplace(placed_->hostCounts, devices_.size());
  reported_.reserve(static_cast<std::size_t>(placed_->nodeCount()));
}

void GraphRun::beginDevices() {
  if (!devices_.empty()) deviceStep_.emplace(devices_, *rankDevices_);
}

void GraphRun::finishDevices() {
  if (!deviceStep_) return;
  deviceStep_->finish([this] { raiseOfStandby(); });  // what it failed to launch nobody will
  expectNothingFound();
}

std::span<const std::int32_t> GraphRun::pollDevices(std::span<const std::int32_t> messages) {
  raiseOfStandby();
  served_.store(true, std::memory_order_relaxed);
  reported_.assign(messages.begin(), messages.end());
  for (const auto& device : devices_) {
    device->serve();
    device->take([this](std::int32_t node) {
      if (options_.trace != nullptr && node < graph_.nodeCount()) options_.trace->finished(node);
      reported_.push_back(node);
    });
  }
  // What a task did was found before it was seen to end: nobody goes on from it.
  expectNothingFound();
  return reported_;
}

void GraphRun::serveDevices() {
  if (served_.exchange(false, std::memory_order_relaxed)) return;
  try {
    for (const auto& device : devices_) device->serve();
  } catch (const Error& error) {
    if (standbyFailed_.load(std::memory_order_relaxed)) return;
    standbyFailure_ = error.copy();
    standbyFailed_.store(true, std::memory_order_release);
  }
}

void GraphRun::raiseOfStandby() const {
  if (standbyFailed_.load(std::memory_order_acquire)) standbyFailure_->raise();
}

void GraphRun::copyToHost(std::span<const LabelId> labels) {
  for (const auto& device : devices_) device->copyToHost(labels);
}

/// The sooner the lane has it the better.
NodeTraits GraphRun::deviceTraits(std::int32_t node, int workers) const {
  const PlacedBlock& placed = placed_->block(node);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  NodeTraits traits;
  traits.home = homeOf(block, placed_->numberOf(node), workers);
  traits.urgency = std::numeric_limits<int>::max();
  traits.waits = devices_[static_cast<std::size_t>(placed.place)]->reports(node);
  return traits;
}

/// To the lane of its device.
bool GraphRun::handOver(std::int32_t node, int worker) {
  if (options_.trace == nullptr || node >= graph_.nodeCount()) return deviceOf(node).run(node);
  const auto begin = Trace::Clock::now();
  const bool finished = deviceOf(node).run(node);
  // What the host does not hear of has no end here; the device's own lane shows it.
  options_.trace->ran(node, worker, begin, Trace::Clock::now(), /*finished=*/false);
  return finished;
}

}  // namespace tessera::detail
