#include "scheduler/device_step/step_devices.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "core/transport/step_aside.hpp"

namespace tessera::detail {

void StepDevices::take(const RankDevices& devices, const PlacedGraph& placed,
                       std::vector<std::unique_ptr<DeviceRun>> runs) {
  devices_ = &devices;
  placed_ = &placed;
  runs_ = std::move(runs);
  DeviceRun::join(runs_);
  launches_.reset();
  if (runs_.size() > 1) launches_.emplace(placed.hostCounts, runs_.size());
  reported_.reserve(static_cast<std::size_t>(placed.nodeCount()));
}

void StepDevices::begin() {
  if (runs_.empty()) return;
  for (const auto& run : runs_) run->copyOldToDevice();
  for (const auto& run : runs_) run->choose();
  const bool isReplayed = runs_.front()->isReplayed();
  TESSERA_EXPECT(std::all_of(runs_.begin(), runs_.end(),
                             [&](const auto& run) { return run->isReplayed() == isReplayed; }),
                 "replay a step on all devices of a rank or on none: they wait for each other");
  const bool independentOfPeers =
      std::any_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->startsIndependent(); });
  devices_->crossDeviceBarrier(independentOfPeers ? DeviceLane::Barrier::DependentOnly
                                                  : DeviceLane::Barrier::All);
  for (const auto& run : runs_) run->begin();
}

void StepDevices::end() {
  StepAside stepAside;
  // What the standby thread failed to launch nobody will.
  for (raiseOfStandby(); !launchRest(); raiseOfStandby()) stepAside();
  for (const auto& run : runs_) run->end();
  expectNothingFound();
}

bool StepDevices::launchRest() {
  bool finished = true;
  for (const auto& run : runs_) finished = run->finish() && finished;
  return finished;
}

bool StepDevices::run(NodeId node, int worker) {
  if (trace_ == nullptr || node >= graph_.blockOf.endId()) return runOf(node).run(node);
  const auto begin = Trace::Clock::now();
  const bool finished = runOf(node).run(node);
  // What the host does not hear of has no end here; the device's own lane shows it.
  trace_->ran(node, worker, begin, Trace::Clock::now(), /*finished=*/false);
  return finished;
}

std::span<const NodeId> StepDevices::poll(std::span<const NodeId> messages) {
  raiseOfStandby();
  served_.store(true, std::memory_order_relaxed);
  reported_.assign(messages.begin(), messages.end());
  for (const auto& run : runs_) {
    run->serve();
    run->take([this](NodeId node) {
      if (trace_ != nullptr && node < graph_.blockOf.endId()) trace_->finished(node);
      reported_.push_back(node);
    });
  }
  // What a task did was found before it was seen to end: nobody goes on from it.
  expectNothingFound();
  return reported_;
}

void StepDevices::serve() {
  if (served_.exchange(false, std::memory_order_relaxed)) return;
  try {
    for (const auto& run : runs_) run->serve();
  } catch (const Error& error) {
    if (standbyFailed_.load(std::memory_order_relaxed)) return;
    standbyFailure_ = error.copy();
    standbyFailed_.store(true, std::memory_order_release);
  }
}

void StepDevices::raiseOfStandby() const {
  if (standbyFailed_.load(std::memory_order_acquire)) standbyFailure_->raise();
}

void StepDevices::appendBegun(std::vector<NodeId>& nodes) const {
  for (const auto& run : runs_) {
    for (const NodeId node : run->begun()) nodes.push_back(node);
  }
}

void StepDevices::copyToHost(Generation generation, std::span<const LabelId> labels) {
  for (const auto& run : runs_) run->copyToHost(generation, labels);
}

void StepDevices::copyToDevices(Generation generation, std::span<const LabelId> labels) {
  for (const auto& run : runs_) run->copyToDevice(generation, labels);
}

std::optional<StepMoment> StepDevices::failedAt() const {
  for (const auto& run : runs_) {
    if (run->failedAt()) return run->failedAt();
  }
  return std::nullopt;
}

}  // namespace tessera::detail
