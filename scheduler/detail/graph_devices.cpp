// What a GraphRun does with the devices of its rank around a step.
#include "core/step_aside.hpp"
#include "scheduler/detail/graph_run.hpp"

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

/// A device may read what any other has: so all have theirs first, and none begins before the others have
/// come to the end of the step before.
void GraphRun::beginDevices() {
  if (devices_.empty()) return;
  for (const auto& device : devices_) device->bringOld();
  rankDevices_->comeTogether();
  for (const auto& device : devices_) device->begin();
}

void GraphRun::finishDevices() {
  StepAside stepAside;
  while (true) {
    bool finished = true;
    for (const auto& device : devices_) finished = device->finish() && finished;
    if (finished) break;
    stepAside();
  }
  expectNothingFound();
}

}  // namespace tessera::detail
