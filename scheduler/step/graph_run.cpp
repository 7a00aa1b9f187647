#include "scheduler/step/graph_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/diagnostics/node_names.hpp"
#include "scheduler/step/fill_nodes.hpp"
#include "scheduler/step/message_nodes.hpp"
#include "scheduler/step/reduce_nodes.hpp"

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
      frames_(graphs, plan, data, options.checked, workers, devices == nullptr ? 0 : devices->sides().size()),
      gate_(graph_, options.stepsOverlap),
      results_(pump_, transport, options.trace, static_cast<std::size_t>(graphs.labels->reductionCount())),
      devices_(graph_, options.trace),
      runners_{std::make_unique<TaskNodes>(graphs, plan, data, moves_, frames_, step_, options_, workers),
               std::make_unique<FillNodes>(graphs, plan, moves_, step_, options_),
               std::make_unique<SendNodes>(graphs, plan, moves_, pump_, step_),
               std::make_unique<ReceiveNodes>(graph_, pump_, step_),
               std::make_unique<ReduceNodes>(graph_, pump_, frames_, step_)},
      tasks_(static_cast<TaskNodes&>(*runners_.front())),
      ticks_(static_cast<std::size_t>(workers)),
      taskTicks_(static_cast<std::size_t>(graph_.nodeCount()), 0) {
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind == NodeKind::Task && graph_.unitOf(block).part != UnitPart::Release)
      taskCount_ += block.count;
  }
  for (LabelId label = 0; label < data.labels().count(); ++label) {
    const LabelInfo& info = data.labels().info(label);
    for (int side = 0; side < kSides; ++side) {
      forEachCondition(info, side, [&](const ConditionNumber& which) {
        const SideCondition& condition = conditionOf(info, side, which);
        condition.value.prepare(workers);
        if (condition.within) condition.within->prepare(workers);
      });
    }
  }
  if (devices != nullptr) takePlaces(*devices);
  if (options.nvtx != nullptr)
    step_.annotations = std::make_unique<NodeAnnotations>(*options.nvtx, graphs, plan);
}

void GraphRun::takePlaces(const RankDevices& devices) {
  step_.placed = &devices.placed(plan_);
  std::vector<std::unique_ptr<DeviceRun>> runs;
  for (std::size_t slot = 0; slot < devices.sides().size(); ++slot) {
    devices.sides()[slot]->backend->bindThread();
    runs.push_back(std::make_unique<DeviceRun>(graphs_, plan_, data_, devices, slot, pump_, frames_,
                                               step_.inputs, options_));
  }
  devices_.take(devices, *step_.placed, std::move(runs));
}

void GraphRun::begin(const StepInputs& inputs, bool ahead, const Earlier& earlier) {
  step_.inputs = inputs;
  ++step_.replay;
  ahead_ = ahead;
  earlier_ = earlier;
  gate_.close();
  step_.isRefused.store(false, std::memory_order_relaxed);
  results_.makeRoom();
  if (options_.trace != nullptr) {
    TracedStep head;
    head.plan = plan_;
    head.step = inputs.shownStep;
    head.time = inputs.time;
    head.dt = inputs.dt;
    options_.trace->beginStep(head, graph_.nodeCount());
  }
  frames_.forgetContributions();
  rate_ = {};
  results_.begin(inputs.control);
  pump_.begin(results_.latest().control, ahead);
  devices_.begin();
}

void GraphRun::end() {
  devices_.end();
  if (options_.trace != nullptr) options_.trace->executed();
  pump_.end();
  if (!ahead_ || refusal_) results_.settleWaiting(results_.round());
  if (!refusal_ && step_.inputs.after == AfterReplay::Promote) data_.promote(graph_.written);
  sumUpTicks();
  if (options_.trace != nullptr) options_.trace->endStep();
  if (refusal_) std::exchange(refusal_, nullptr)->raise();
}

void GraphRun::sumUpTicks() {
  const double secondsPerTick = rate_.secondsPerTick();
  for (WorkerTicks& ticks : ticks_) {
    taskSeconds_ += secondsPerTick * static_cast<double>(ticks.tasks);
    messageSeconds_ += secondsPerTick * static_cast<double>(ticks.messages);
    ticks = {};
  }
}

bool GraphRun::run(NodeId node, int worker) {
  if (gate_.is(node)) {
    gate_.await();
    return false;
  }
  if (devices_.isLaunch(node)) {
    devices_.launch(node);
    return true;
  }
  if (devices_.has(node)) return devices_.run(node, worker);
  const NodeAt at(graph_, node);
  const std::int64_t begin = ticksNow();
  const bool finished = runOnHost(at, worker);
  const std::int64_t spent = ticksNow() - begin;
  WorkerTicks& ticks = ticks_[static_cast<std::size_t>(worker)];
  if (at.block.kind == NodeKind::Task) {
    ticks.tasks += spent;
    taskTicks_[node.index()] += spent;  // one worker at a time runs a node
  } else {
    ticks.messages += spent;
  }
  return finished;
}

void GraphRun::addTaskTicks(std::vector<double>& byPatch, double& elsewhere) const {
  const auto cells = [&](std::int64_t local) {
    const PatchId patch = graphs_.ownPatches[static_cast<std::size_t>(local)];
    return static_cast<double>(graphs_.hierarchy->patch(patch).cells.volume());
  };
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.unitOf(block);
    for (std::int32_t n = 0; n < block.count; ++n) {
      const auto ticks = static_cast<double>(taskTicks_[(block.firstNode + n).index()]);
      if (unit.hasPatch()) {
        byPatch[static_cast<std::size_t>(block.firstLocal + n)] += ticks;
        continue;
      }
      const Range own =
          unit.level < 0 ? Range{} : graphs_.localsOfLevel[static_cast<std::size_t>(unit.level)];
      double all = 0.0;
      for (std::int64_t local = own.begin; local < own.end; ++local) all += cells(local);
      for (std::int64_t local = own.begin; local < own.end; ++local)
        byPatch[static_cast<std::size_t>(local)] += ticks * cells(local) / all;
      if (own.size() == 0) elsewhere += ticks;
    }
  }
}

/// With what a trace and a profiler are told of it.
bool GraphRun::runOnHost(const NodeAt& at, int worker) {
  NodeRunner& runner = runnerOf(at.block.kind);
  if (options_.trace == nullptr && !step_.annotations) return runner.run(at, worker);
  const auto runShown = [&] {
    if (!step_.annotations) return runner.run(at, worker);
    const NvtxScope scope = step_.annotations->work(at.node);
    return runner.run(at, worker);
  };
  if (options_.trace == nullptr) return runShown();
  const auto begin = Trace::Clock::now();
  const bool finished = runShown();
  options_.trace->ran(at.node, worker, begin, Trace::Clock::now(), finished);
  return finished;
}

std::span<const NodeId> GraphRun::poll() {
  std::span<const NodeId> done = pump_.poll();
  if (step_.annotations) {
    for (const NodeId node : done) step_.annotations->arrives(node);
  }
  for (const NodeId node : tasks_.ended()) {
    if (options_.trace != nullptr) options_.trace->finished(node);
    done = pump_.alsoReport(node);
  }
  if (devices_.used()) return devices_.poll(done);
  if (!gate_.isAwaited()) return done;
  if (earlier_.run != nullptr && !earlier_.run->results_.settle(earlier_.round)) return done;
  takeDt();
  gate_.open();
  return pump_.alsoReport(gate_.node());
}

/// Before anybody comes through the gate. All ranks find the same, so where there is no dt all of them come
/// to the end of the step in order: with their messages, but without tasks.
void GraphRun::takeDt() {
  if (earlier_.run == nullptr) return;
  try {
    step_.inputs.dt = step_.inputs.lateDt(earlier_.run->results_.result(earlier_.round));
    if (options_.trace != nullptr) options_.trace->takeDt(step_.inputs.dt);
  } catch (const Error& error) {
    refusal_ = error.copy();
    step_.isRefused.store(true, std::memory_order_relaxed);
  }
}

NodeTraits GraphRun::traits(NodeId node, int workers) const {
  if (gate_.is(node)) return {.urgency = std::numeric_limits<int>::max(), .waits = true};
  if (devices_.isLaunch(node)) {
    return {.home = devices_.launches()->homeOf(node, workers), .urgency = std::numeric_limits<int>::max()};
  }
  if (step_.placed != nullptr && !step_.placed->ofExecutor(node)) return {.used = false};
  if (devices_.has(node)) return deviceTraits(node, workers);
  const NodeAt at(graph_, node);
  if (at.number >= at.block.count) return {.used = false};
  const NodeRunner& runner = runnerOf(at.block.kind);
  NodeTraits traits;
  traits.home = runner.homeOf(at, workers);
  traits.urgency = runner.urgencyOf(at);
  traits.waits = runner.waits(at);
  // In quarters of the critical path, so that the many nodes near it stay together, with their data.
  traits.slack = std::min(3, 4 * at.block.slack / (graph_.longestWay + 1));
  return traits;
}

/// The sooner the lane has it the better.
NodeTraits GraphRun::deviceTraits(NodeId node, int workers) const {
  const PlacedBlock& placed = step_.placed->block(node);
  const NodeAt at(graph_.blocks[static_cast<std::size_t>(placed.block)], step_.placed->numberOf(node));
  return {.home = runnerOf(at.block.kind).homeOf(at, workers),
          .urgency = std::numeric_limits<int>::max(),
          .waits = devices_.reports(node)};
}

std::string GraphRun::waitsFor(NodeId node) const {
  if (gate_.is(node) || devices_.isLaunch(node) || devices_.has(node)) return NodeSource::waitsFor(node);
  const NodeAt at(graph_, node);
  const std::string work = tasks_.begun().waitsFor(at.block, at.number);
  return work.empty() ? NodeSource::waitsFor(node) : "waits for an engine: " + work;
}

int GraphRun::waitsForRank(NodeId node) const {
  if (gate_.is(node) || devices_.isLaunch(node) || devices_.has(node)) return -1;
  const NodeAt at(graph_, node);
  return runnerOf(at.block.kind).waitsForRank(at);
}

std::string GraphRun::describe(NodeId node) const {
  if (gate_.is(node)) return "the length of the step, from the reductions of the step before,";
  if (devices_.isLaunch(node))
    return "launches on device " + std::to_string(devices_.launches()->slotOf(node));
  if (step_.placed != nullptr) return placedNodeName(graphs_, plan_, *step_.placed, node);
  return nodeName(graphs_, plan_, node);
}

std::vector<NodeId> GraphRun::begun() {
  std::vector<NodeId> nodes = pump_.begun();
  if (gate_.isAwaited()) nodes.push_back(gate_.node());
  tasks_.begun().appendBegun(nodes);
  devices_.appendBegun(nodes);
  return nodes;
}

std::string GraphRun::detectDeadlock(std::chrono::duration<double> limit) {
  if (talk_ == nullptr) return {};
  std::vector<RankWait> mine;
  for (const NodeId node : begun()) {
    if (const int peer = waitsForRank(node); peer >= 0)
      mine.push_back({transport_.rank(), peer, describe(node)});
  }
  return talk_->tell(mine, limit);
}

}  // namespace tessera::detail
