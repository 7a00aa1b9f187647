#include "scheduler/device_step/device_run.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

namespace {

LaneLayout::TakesFromPeers takesFromPeers(const DeviceMoves& fills, const RankDevices& devices) {
  if (devices.sides().size() < 2) return {};
  return [&fills](std::int32_t fill, std::int32_t row) { return fills.takesFromPeers(fill, row); };
}

}  // namespace

DeviceRun::DeviceRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                     const RankDevices& devices, std::size_t slot, MessagePump& pump, TaskFrames& frames,
                     const StepInputs& inputs, const RunnerOptions& options)
    : graph_(graphs.plans[plan]),
      side_(*devices.sides()[slot]),
      placed_(devices.placed(plan)),
      fills_(
          graphs, plan, data, side_.store, pump, *side_.backend, side_.tables, side_.pinned,
          [this](const PackItem& item) { return isPackedHere(item); },
          [&devices](std::int32_t local) -> DeviceStore& { return devices.storeOf(local); }),
      layout_(graph_, placed_, static_cast<DeviceAssignment>(slot), side_.lane.options().streams,
              takesFromPeers(fills_, devices)),
      nodes_(graphs, plan, data, placed_, side_, layout_, fills_, frames, inputs, options),
      old_(graphs, data, placed_, static_cast<DeviceAssignment>(slot), side_.store, side_.lane, nodes_),
      ended_(placed_.blockOf.size()) {
  const LanePlan lane = layout_.plan();
  work_ = side_.lane.prepare(lane);
  if (!options.devices.graphs) return;
  if (options.checked) {
    whyNoGraphs_ = "checked mode inspects each launch";
  } else if (nodes_.swaps()) {
    whyNoGraphs_ = "step plan \"" + graph_.plan->name() +
                   "\" is launched task by task and not as graphs: its variables are swapped in and out "
                   "within a step";
  } else {
    replay_ = std::make_unique<GraphReplay>(side_, lane, layout_, placed_, devices.segments(plan), nodes_,
                                            inputs, PlanBuffers(graphs, plan, data, pump));
  }
}

bool DeviceRun::isPackedHere(const PackItem& item) const {
  const std::ptrdiff_t n = &item - graph_.packItems.data();
  TESSERA_EXPECT(n >= 0 && n < std::ssize(graph_.packItems), "ask for items of the graph");
  return placed_.packPlaces[static_cast<std::size_t>(n)] == side_.slot;
}

void DeviceRun::join(std::span<const std::unique_ptr<DeviceRun>> runs) {
  std::vector<LaneWork*> works;
  std::vector<LaneWork*> replays;
  for (const auto& run : runs) {
    works.push_back(run->work_.get());
    if (run->replay_) replays.push_back(&run->replay_->work());
  }
  LaneWork::join(works);
  TESSERA_EXPECT(replays.empty() || replays.size() == works.size(), "replay a plan on all devices or none");
  LaneWork::join(replays);
}

void DeviceRun::expectNothingFound(std::span<const std::unique_ptr<DeviceRun>> runs) {
  const bool any =
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->nodes_.checks().isRaised(); });
  if (!any) return;
  std::optional<DeviceChecks::Candidate> best;
  for (const auto& run : runs) {
    const std::optional<DeviceChecks::Candidate> found = run->nodes_.checks().earliest();
    if (found && (!best || found->comesBefore(*best))) best = found;
  }
  TESSERA_EXPECT(best.has_value(), "a kernel reported an error, but there is no report");
  best->whose->report(best->finding);
}

void DeviceRun::begin() {
  nodes_.beginStep();
  if (isReplayed_) return replay_->begin();
  side_.lane.begin(*work_, nodes_);
  for (const Range& tasks : layout_.first())
    side_.lane.submit(static_cast<std::int32_t>(tasks.begin), static_cast<std::int32_t>(tasks.size()));
}

bool DeviceRun::run(std::int32_t node) {
  const std::int32_t task = layout_.taskOf(node);
  if (isReplayed_) {
    replay_->comeTo(task);
  } else {
    side_.lane.submit(task);
  }
  return !reports(node);
}

void DeviceRun::serve() {
  side_.lane.serve([this](std::int32_t task) { endOf(task); });
}

bool DeviceRun::finish() {
  if (!side_.lane.allLaunched()) serve();
  return side_.lane.allLaunched();
}

/// The device has ended a task of the lane.
void DeviceRun::endOf(std::int32_t task) {
  if (!isReplayed_) return end(task, nodes_.contributes(task) ? &nodes_.finished(task) : nullptr);
  for (const std::int32_t one : replay_->tasksOf(task)) {
    if (layout_.reports(one)) end(one, nodes_.contributes(one) ? &replay_->finished(one) : nullptr);
  }
}

/// What a task has found for reductions is given now.
void DeviceRun::end(std::int32_t task, DeviceLoops* finished) {
  if (finished != nullptr) nodes_.contribute(task, *finished);
  ended_.push(task);
}

std::vector<std::int32_t> DeviceRun::begun() const {
  std::vector<std::int32_t> nodes;
  for (const std::int32_t task : side_.lane.begun()) {
    if (!isReplayed_) {
      nodes.push_back(layout_.nodeOf(task));
      continue;
    }
    for (const std::int32_t one : replay_->tasksOf(task)) {
      if (layout_.reports(one)) nodes.push_back(layout_.nodeOf(one));
    }
  }
  return nodes;
}

}  // namespace tessera::detail
