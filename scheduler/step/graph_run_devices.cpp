// The part of GraphRun that has to do with devices.
#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"
#include "core/transport/step_aside.hpp"
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
  if (devices.swap()) {
    std::vector<DevicePaging::Part> parts;
    for (const auto& device : devices_) parts.push_back(device->part());
    paging_ = std::make_unique<DevicePaging>(graphs_, plan_, *placed_, data_, parts);
    for (const auto& device : devices_) device->launchBy(*paging_);
  }
  launches_.reset();
  if (devices_.size() > 1) launches_.emplace(placed_->hostCounts, devices_.size());
  reported_.reserve(static_cast<std::size_t>(placed_->nodeCount()));
}

/// A device may read what any other has: so all have theirs first, and none begins before the others have
/// come to the end of the step before.
void GraphRun::beginDevices() {
  if (devices_.empty()) return;
  for (const auto& device : devices_) device->bringOld();
  for (const auto& device : devices_) device->choose();
  rankDevices_->comeTogether(std::any_of(devices_.begin(), devices_.end(),
                                         [](const auto& device) { return device->startsApart(); }));
  const DeviceTurn::Held held(rankDevices_->turn(), DeviceTurn::Wait);
  if (paging_) paging_->begin();
  for (const auto& device : devices_) device->begin();
  const bool isReplayed = devices_.front()->isReplayed();
  TESSERA_EXPECT(std::all_of(devices_.begin(), devices_.end(),
                             [&](const auto& device) { return device->isReplayed() == isReplayed; }),
                 "replay a step on all devices of a rank or on none: they wait for each other");
}

void GraphRun::finishDevices() {
  StepAside stepAside;
  while (true) {
    raiseOfStandby();  // what it failed to launch nobody will
    bool finished = true;
    for (const auto& device : devices_) finished = device->finish() && finished;
    if (finished) break;
    stepAside();
  }
  if (paging_) paging_->end();
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

void GraphRun::bringHome(std::span<const LabelId> labels) {
  for (const auto& device : devices_) device->bringHome(labels);
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
