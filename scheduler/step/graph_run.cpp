#include "scheduler/step/graph_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/profile/kokkos_annotations.hpp"
#include "core/text/contracts.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "datawarehouse/checked/finite_watch.hpp"

namespace tessera::detail {

GraphRun::GraphRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, Transport& transport,
                   const RunnerOptions& options, int workers, const RankDevices* devices)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      data_(data),
      options_(options),
      transport_(transport),
      pump_(graphs.plans[plan], transport, options.sends, options.faults, options.trace),
      moves_(graphs, plan, data, pump_),
      frames_(graphs, plan, data, options.checked),
      scratch_(graphs, plan, workers),
      prefetches_(graphs, plan, data, moves_, workers),
      gate_(graph_, options.stepsOverlap),
      ticks_(static_cast<std::size_t>(workers)) {
  for (StepResult& result : results_) {
    result.control.reserve(kMaxControls);
    result.reductions.resize(static_cast<std::size_t>(graphs.labels->reductionCount()));
  }
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind == NodeKind::Task) taskCount_ += block.count;
  }
  for (LabelId label = 0; label < data.labels().count(); ++label) {
    for (const auto& side : data.labels().info(label).boundary.sides) {
      if (side) side->value.prepare(workers);
    }
  }
  if (devices != nullptr) takePlaces(*devices);
  if (options.nvtx != nullptr) ranges_ = std::make_unique<NodeAnnotations>(*options.nvtx, graphs, plan);
}

void GraphRun::begin(const StepInputs& inputs, bool ahead, const Earlier& earlier) {
  inputs_ = inputs;
  ahead_ = ahead;
  earlier_ = earlier;
  gate_.close();
  isRefused_.store(false, std::memory_order_relaxed);
  round_ = 1 - pump_.roundInHand();
  settleWaiting(round_);
  if (options_.trace != nullptr) {
    TracedStep head;
    head.plan = plan_;
    head.step = inputs.shownStep;
    head.time = inputs.time;
    head.dt = inputs.dt;
    options_.trace->beginStep(head, graph_.nodeCount());
    tracedRun_[round_] = options_.trace->openStep();
  }
  frames_.forgetContributions();
  rate_ = {};
  StepResult& result = results_[round_];
  result.control.assign(inputs.control.begin(), inputs.control.end());
  std::fill(result.reductions.begin(), result.reductions.end(), std::numeric_limits<double>::quiet_NaN());
  open_[round_] = true;
  pump_.begin(result.control, ahead);
  beginDevices();
}

void GraphRun::end() {
  finishDevices();
  if (options_.trace != nullptr) options_.trace->executed();
  pump_.end();
  if (!ahead_ || refusal_) settleWaiting(round_);
  if (!refusal_) data_.promote(graph_.written);
  const double secondsPerTick = rate_.secondsPerTick();
  for (WorkerTicks& ticks : ticks_) {
    taskSeconds_ += secondsPerTick * static_cast<double>(ticks.tasks);
    messageSeconds_ += secondsPerTick * static_cast<double>(ticks.messages);
    ticks = {};
  }
  if (options_.trace != nullptr) options_.trace->endStep();
  if (refusal_) std::exchange(refusal_, nullptr)->raise();
}

bool GraphRun::settle(std::size_t round) {
  if (!open_[round]) return true;
  pump_.round(round).test();
  if (!pump_.round(round).complete()) return false;
  pump_.round(round).takeResults(results_[round].reductions);
  open_[round] = false;
  if (options_.trace != nullptr) options_.trace->closeStep(tracedRun_[round]);
  return true;
}

void GraphRun::giveUp() {
  open_[round_] = false;
  if (options_.trace != nullptr) options_.trace->closeStep(tracedRun_[round_]);
}

void GraphRun::settleWaiting(std::size_t round) {
  transport_.waitUntil([this, round] { return settle(round); });
}

const StepResult& GraphRun::waitForResult() {
  settleWaiting(1 - round_);  // where nobody has waited for it
  settleWaiting(round_);
  return results_[round_];
}

std::span<const std::int32_t> GraphRun::poll() {
  const std::span<const std::int32_t> done = pump_.poll();
  if (ranges_) {
    for (const std::int32_t node : done) ranges_->arrives(node);
  }
  if (!devices_.empty()) return pollDevices(done);
  if (!gate_.isAwaited()) return done;
  if (earlier_.run != nullptr && !earlier_.run->settle(earlier_.round)) return done;
  takeDt();
  gate_.open();
  return pump_.alsoReport(gate_.node());
}

/// Before anybody comes through the gate. All ranks find the same, so where there is no dt all of them come
/// to the end of the step in order: with their messages, but without tasks.
void GraphRun::takeDt() {
  if (earlier_.run == nullptr) return;
  try {
    inputs_.dt = inputs_.lateDt(earlier_.run->results_[earlier_.round]);
    if (options_.trace != nullptr) options_.trace->takeDt(inputs_.dt);
  } catch (const Error& error) {
    refusal_ = error.copy();
    isRefused_.store(true, std::memory_order_relaxed);
  }
}

std::string GraphRun::describe(std::int32_t node) const {
  if (gate_.is(node)) return "the length of the step, from the reductions of the step before,";
  if (isLaunch(node)) return "launches on device " + std::to_string(launches_->slotOf(node));
  if (placed_ != nullptr) return placedNodeName(graphs_, plan_, *placed_, node);
  return nodeName(graphs_, plan_, node);
}

std::vector<std::int32_t> GraphRun::begun() {
  std::vector<std::int32_t> nodes = pump_.begun();
  if (gate_.isAwaited()) nodes.push_back(gate_.node());
  for (const auto& device : devices_) {
    for (const std::int32_t node : device->begun()) nodes.push_back(node);
  }
  return nodes;
}

int GraphRun::homeOfLocal(std::int32_t local, int workers) const {
  for (const Range& level : graphs_.localsOfLevel) {
    if (local >= level.begin && local < level.end) {
      return static_cast<int>((local - level.begin) * workers / level.size());
    }
  }
  return 0;
}

int GraphRun::homeOf(const NodeBlock& block, std::int32_t number, int workers) const {
  switch (block.kind) {
    case NodeKind::Task:
    case NodeKind::Fill:
      return homeOfLocal(block.firstLocal + number, workers);
    case NodeKind::Send: {
      const Range items = graph_.sends[static_cast<std::size_t>(block.item + number)].items;
      const std::int32_t source =
          items.size() > 0 ? graph_.packItems[static_cast<std::size_t>(items.begin)].source : -1;
      return homeOfLocal(source, workers);
    }
    case NodeKind::Receive:
    case NodeKind::Reduce:
      return static_cast<int>((block.item + number) % workers);
  }
  return 0;
}

NodeTraits GraphRun::traits(std::int32_t node, int workers) const {
  if (gate_.is(node)) return {.urgency = std::numeric_limits<int>::max(), .waits = true};
  if (isLaunch(node)) {
    return {.home = launches_->homeOf(node, workers), .urgency = std::numeric_limits<int>::max()};
  }
  if (placed_ != nullptr && !placed_->ofExecutor(node)) return {.used = false};
  if (isOnDevice(node)) return deviceTraits(node, workers);
  const NodeBlock& block = graph_.block(node);
  const std::int32_t number = node - block.firstNode;
  NodeTraits traits;
  traits.used = number < block.count;
  if (!traits.used) return traits;
  traits.home = homeOf(block, number, workers);
  // In quarters of the critical path, so that the many nodes near it stay together, with their data.
  traits.slack = std::min(3, 4 * block.slack / (graph_.longestWay + 1));
  if (block.kind == NodeKind::Task) {
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    traits.urgency = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)].priority;
  } else if (block.kind != NodeKind::Fill) {
    traits.urgency = std::numeric_limits<int>::max();  // other ranks wait for it
    traits.waits = true;
  }
  return traits;
}

int GraphRun::waitsForRank(std::int32_t node) const {
  if (gate_.is(node) || isLaunch(node) || isOnDevice(node)) return -1;
  const NodeBlock& block = graph_.block(node);
  if (block.kind != NodeKind::Receive) return -1;
  return graph_.receives[static_cast<std::size_t>(block.item + node - block.firstNode)].peer;
}

bool GraphRun::run(std::int32_t node, int worker) {
  if (gate_.is(node)) {
    gate_.await();
    return false;
  }
  if (isLaunch(node)) {
    devices_[launches_->slotOf(node)]->serve();
    return true;
  }
  if (isOnDevice(node)) return handOver(node, worker);
  const NodeBlock& block = graph_.block(node);
  const std::int64_t begin = ticksNow();
  const bool finished =
      options_.trace == nullptr ? runShown(block, node, worker) : runTraced(block, node, worker);
  WorkerTicks& ticks = ticks_[static_cast<std::size_t>(worker)];
  (block.kind == NodeKind::Task ? ticks.tasks : ticks.messages) += ticksNow() - begin;
  return finished;
}

bool GraphRun::runTraced(const NodeBlock& block, std::int32_t node, int worker) {
  const auto begin = Trace::Clock::now();
  const bool finished = runShown(block, node, worker);
  options_.trace->ran(node, worker, begin, Trace::Clock::now(), finished);
  return finished;
}

bool GraphRun::runShown(const NodeBlock& block, std::int32_t node, int worker) {
  if (!ranges_) return runNode(block, node, worker);
  const NvtxScope scope = ranges_->work(node);
  return runNode(block, node, worker);
}

bool GraphRun::runNode(const NodeBlock& block, std::int32_t node, int worker) {
  const std::int32_t number = node - block.firstNode;
  const std::int32_t item = block.item + number;
  switch (block.kind) {
    case NodeKind::Task:
      runTask(block, number, worker);
      return true;
    case NodeKind::Fill: {
      const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
      // A condition of time holds at the time of the value: Old at the start of the step, New at its end.
      const double time = fill.generation == Generation::Old ? inputs_.time : inputs_.time + inputs_.dt;
      if (options_.checked) moves_.unset(fill, number);
      moves_.fill(block.item, number, time);
      return true;
    }
    case NodeKind::Send:
      moves_.pack(item, placed_ == nullptr ? std::span<const DeviceAssignment>{} : placed_->packPlaces);
      if (ranges_) ranges_->departs(node);
      pump_.submitSend(item, node);
      return false;
    case NodeKind::Receive:
      if (ranges_) ranges_->departs(node);
      pump_.submitReceive(item, node);
      return false;
    case NodeKind::Reduce: {
      joinContributions(item);
      if (ranges_) ranges_->departs(node);
      pump_.submitReduction(item, node);
      return false;
    }
  }
  return true;
}

void GraphRun::gatherScratch(const TaskUnit& unit, std::int32_t number, int worker, TaskAccesses& accesses) {
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
    if (graph_.isScratch(access)) {
      gatherScratch(access, number, worker,
                    accesses.all()[static_cast<std::size_t>(a - unit.accesses.begin)]);
    }
  }
}

void GraphRun::gatherScratch(const UnitAccess& access, std::int32_t number, int worker,
                             TaskAccess& resolved) {
  const auto fill = static_cast<std::size_t>(access.fill);
  const ScratchWindows::Window& window = scratch_.window(fill, number);
  resolved.data = scratch_.memory(worker) + scratch_.offset(fill) + window.lead;
  resolved.layout = window.layout;
  if (options_.checked) {  // nothing of the task before is taken for a value
    std::memset(scratch_.memory(worker) + scratch_.offset(fill), 0xFF,
                static_cast<std::size_t>(scratch_.bytes(fill)));
  }
  moves_.gatherScratch(access.fill, number, inputs_.time, resolved.data, resolved.layout);
}

void GraphRun::runTask(const NodeBlock& block, std::int32_t number, int worker) {
  if (isRefused_.load(std::memory_order_relaxed)) return;
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  const TaskDeclaration& task = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
  const std::int32_t local = block.firstLocal + number;
  TaskAccesses accesses;
  TaskFrame frame = frames_.frameOf(unit, block, number, inputs_);
  frames_.resolve(unit, number, local, frame.patch, accesses);
  gatherScratch(unit, number, worker, accesses);
  frame.accesses = accesses.all();
  FiniteWatch watch(frame.accesses, frame.finalLoops, data_.labels());
  if (options_.findNonFinite && !options_.checked) frame.watch = &watch;
  if (!options_.checked) frame.ahead = prefetches_.during(block, number, frame.patch, worker);
  if (options_.regions != nullptr) {
    const NamedKernel named(*options_.regions, task.name, static_cast<std::uint32_t>(worker));
    runBody(frame, accesses.all(), task);
  } else {
    runBody(frame, accesses.all(), task);
  }
  if (options_.findNonFinite) expectFinite(frame);
  if (placed_ != nullptr) noteWritten(data_, graph_, unit, block.firstLocal + number, kHost);
}

void GraphRun::runBody(TaskFrame& frame, std::span<TaskAccess> accesses, const TaskDeclaration& task) {
  if (options_.checked) {
    runChecked(frame, accesses, task.body.checked);
  } else {
    task.body.cpu(frame);
  }
}

void GraphRun::joinContributions(std::int32_t reduction) {
  const ReductionPlan& plan = graph_.reductions[static_cast<std::size_t>(reduction)];
  ReductionState& state = pump_.reductions().state(reduction);
  const double infinity = std::numeric_limits<double>::infinity();
  state = {plan.kind == ReductionKind::Min ? infinity : -infinity, {}};
  for (const std::int32_t b : plan.blocks) {
    const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(b)];
    const Range first = graph_.units[static_cast<std::size_t>(block.item)].contributions;
    const std::int64_t end = first.begin + block.count * first.size();
    for (std::int64_t n = first.begin; n < end; ++n) {
      const PatchContribution& given = frames_.contribution(n);
      if (given.reduction != plan.reduction || !given.given) continue;
      switch (plan.kind) {
        case ReductionKind::Min:
          state.value = std::min(state.value, given.value);
          break;
        case ReductionKind::Max:
          state.value = std::max(state.value, given.value);
          break;
        case ReductionKind::Sum:
          state.sum.add(given.sum);
          break;
      }
    }
  }
}

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

std::string GraphRun::detectDeadlock(std::chrono::duration<double> limit) {
  if (talk_ == nullptr) return {};
  std::vector<RankWait> mine;
  for (const std::int32_t node : begun()) {
    if (const int peer = waitsForRank(node); peer >= 0)
      mine.push_back({transport_.rank(), peer, describe(node)});
  }
  return talk_->tell(mine, limit);
}

}  // namespace tessera::detail
