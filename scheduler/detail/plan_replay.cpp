#include "scheduler/detail/plan_replay.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/step_aside.hpp"

namespace tessera::detail {

PlanReplay::PlanReplay(DeviceSide& side, const LanePlan& plan, ReplaySource& source, const StepInputs& inputs,
                       LaunchWatch& watch, std::int32_t watched)
    : side_(side),
      source_(source),
      inputs_(inputs),
      watch_(watch),
      watched_(watched),
      captures_(*side.backend, plan, side.lane.options()),
      batchOf_(plan.tasks.size(), -1),
      memoryStream_(side.backend->makeStream()) {
  for (std::size_t n = 0; n < batches().size(); ++n) {
    for (const std::int32_t task : batches()[n].batch.tasks) {
      batchOf_[static_cast<std::size_t>(task)] = static_cast<std::int32_t>(n);
    }
  }
  LanePlan whole;
  const bool reports =
      std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const LaneTask& task) { return task.reports; });
  whole.tasks.push_back({0, 1, reports});
  work_ = side.lane.prepare(whole);
  ways_.reserve(kMostWays);
}

PlanReplay::~PlanReplay() {
  for (const Way& way : ways_) {
    try {
      waitFor(way);
    } catch (const Error&) {
      continue;  // it was said when it happened
    }
    for (const DeviceFills::KeptValues& kept : way.values) source_.giveValues(kept, memoryStream_);
    if (way.graph.number >= 0) side_.backend->releaseGraph(way.graph);
  }
}

bool PlanReplay::begin(const std::vector<std::int32_t>& placing) {
  const auto found =
      std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) { return way.placing == placing; });
  way_ = found == ways_.end() ? nullptr : &*found;
  if (way_ == nullptr && ways_.size() < kMostWays) ways_.emplace_back().placing = placing;
  return way_ != nullptr;
}

void PlanReplay::waitFor(const Way& way) {
  StepAside stepAside;
  while (way.ended.number >= 0 && !side_.backend->isDone(way.ended)) stepAside();
}

void PlanReplay::launch(std::int32_t /*kind*/, std::span<const std::int32_t> /*tasks*/,
                        std::span<const DeviceStream> streams) {
  Way& way = *way_;
  DeviceBackend& device = *side_.backend;
  const bool isNew = way.graph.number < 0;
  if (isNew) {
    // Tables of the steps before are complete when they are captured.
    device.synchronize(streams.front());
    takeMemory(way);
  }
  const bool otherLoops = renewBodies(way, streams.front());
  renewValues(way);
  if (isNew || otherLoops) capture(way);
  way.numbers = {inputs_.time, inputs_.dt};
  way.step = inputs_.step;
  for (const StreamedBatch& entry : batches()) source_.noteLaunched(entry.batch.kind, entry.batch.tasks);
  LaunchScope scope(watch_, watched_, streams, std::ssize(batchOf_));
  device.launchGraph(streams.front(), way.graph, "a captured step");
  scope.carries(way.bytes);
  device.record(way.ended, streams.front());
  ++counts_.replays;
}

void PlanReplay::takeMemory(Way& way) {
  way.ended = side_.backend->makeEvent();
  for (const StreamedBatch& entry : batches()) {
    const LaunchBatch& batch = entry.batch;
    const bool bodies = source_.hasBodies(batch.kind);
    way.loops.push_back(bodies ? std::make_unique<KeptLoops>(*side_.backend, side_.tables, side_.pinned,
                                                             memoryStream_, batch.streams)
                               : nullptr);
    way.values.push_back(bodies ? DeviceFills::KeptValues{}
                                : source_.keepValues(batch.kind, batch.tasks, memoryStream_));
  }
}

bool PlanReplay::hasChanged(const Way& way, const KeptLoops& loops) const {
  return way.graph.number < 0 || (loops.hasAsked(StepNumber::Time) && way.numbers[0] != inputs_.time) ||
         (loops.hasAsked(StepNumber::Dt) && way.numbers[1] != inputs_.dt) ||
         (loops.hasAsked(StepNumber::Step) && way.step != inputs_.step);
}

/// Calls bodies whose closures are no longer right. True: their loops are not those of the graph.
bool PlanReplay::renewBodies(Way& way, DeviceStream stream) {
  bool otherLoops = false;
  for (std::size_t n = 0; n < batches().size(); ++n) {
    KeptLoops* loops = way.loops[n].get();
    if (loops == nullptr || !hasChanged(way, *loops)) continue;
    const LaunchBatch& batch = batches()[n].batch;
    loops->begin();
    for (const std::int32_t task : batch.tasks) source_.callBody(batch.kind, task, loops->instance(task));
    counts_.bodiesCalled += std::ssize(batch.tasks);
    const bool fits = loops->fits();
    waitFor(way);  // it reads what is written now
    loops->keep();
    if (!fits) side_.backend->synchronize(memoryStream_);
    loops->upload(stream);
    otherLoops = otherLoops || !fits;
  }
  return otherLoops;
}

void PlanReplay::renewValues(Way& way) {
  for (std::size_t n = 0; n < batches().size(); ++n) {
    if (way.values[n].memory == nullptr) continue;
    waitFor(way);
    source_.evaluate(batches()[n].batch.kind, batches()[n].batch.tasks, way.values[n]);
  }
}

void PlanReplay::capture(Way& way) {
  if (way.graph.number >= 0) {
    waitFor(way);
    side_.backend->releaseGraph(way.graph);
  }
  way.bytes = 0;
  way.graph = captures_.capture([&](std::size_t n, std::span<const DeviceStream> streams) {
    const LaunchBatch& batch = batches()[n].batch;
    if (way.loops[n] != nullptr) {
      way.loops[n]->put(streams);
    } else {
      way.bytes += source_.captureMoves(batch.kind, batch.tasks, way.values[n], streams.front());
    }
  });
  ++counts_.captures;
}

DeviceLoops& PlanReplay::finished(std::int32_t task) {
  const auto batch = static_cast<std::size_t>(batchOf_[static_cast<std::size_t>(task)]);
  return way_->loops[batch]->finished(task);
}

}  // namespace tessera::detail
