#include "scheduler/device_step/device_run.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/text/contracts.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "scheduler/device_step/launch_names.hpp"

namespace tessera::detail {

void noteWritten(DataWarehouse& data, const CompiledGraph& graph, const TaskUnit& unit, std::int32_t local,
                 MemorySpace space) {
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    const auto mode = static_cast<AccessMode>(access.mode);
    if (mode != AccessMode::Write && mode != AccessMode::Modify) continue;
    wroteOn(data.valueStatus(Generation::New, access.label, static_cast<std::size_t>(local)), space);
  }
}

DeviceRun::DeviceRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                     const RankDevices& devices, std::size_t slot, MessagePump& pump, TaskFrames& frames,
                     const StepInputs& inputs, const RunnerOptions& options)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      data_(data),
      side_(*devices.sides()[slot]),
      placed_(devices.placed(plan)),
      turn_(devices.turn()),
      hasPeers_(devices.sides().size() > 1),
      frames_(frames),
      inputs_(inputs),
      moves_(
          graphs, plan, data, side_.store, pump, *side_.backend, side_.tables, side_.pinned,
          [this](const PackItem& item) { return isPackedHere(item); },
          [&devices](std::int32_t local) -> DeviceStore& { return devices.storeOf(local); }),
      loops_(*side_.backend, side_.tables, side_.pinned),
      watch_(side_.timeline.get(), options.nvtx),
      checks_(side_, {options.checked, options.findNonFinite, options.devices.graphs},
              [this](const TaskFinding& finding) { report(finding); }),
      ended_(placed_.blockOf.size()),
      placing_(graphs, plan, data, pump) {
  listOldNeeds();
  const LanePlan lane = layOut();
  layOutChecks();
  nameLaunches();
  if (side_.graphs && options.checked) {
    whyNoGraphs_ = "checked mode looks at each launch";
  } else if (side_.graphs && devices.swap()) {
    whyNoGraphs_ = "step plan \"" + graph_.plan->name() +
                   "\" is launched task by task and not as graphs: its variables come to the device and "
                   "leave it within a step";
  } else if (side_.graphs) {
    makeReplay(lane, devices.segments(plan));
  }
}

void DeviceRun::nameLaunches() {
  const WorkNames names(graphs_, plan_);
  for (const std::int32_t kind : kinds_) {
    const auto [name, work] =
        launchName(names, data_.labels(), graph_, placed_.blocks[static_cast<std::size_t>(kind)]);
    watch_.add(name, work);
  }
  for (LabelId label = 0; label < data_.labels().count(); ++label) {
    for (const CopyDirection way : {CopyDirection::HostToDevice, CopyDirection::DeviceToHost}) {
      copyKinds_.push_back(
          watch_.add(copyName(data_.labels(), Generation::Old, label, way), DeviceWork::Copy));
    }
  }
}

void DeviceRun::layOutChecks() {
  std::vector<CheckedTask> tasks;
  for (const std::int32_t node : nodes_) {
    CheckedTask& checked = tasks.emplace_back();
    const PlacedBlock& placed = placed_.block(node);
    const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
    if (placed.kind != PlacedKind::Original || block.kind != NodeKind::Task) continue;
    TaskAccesses accesses;
    const TaskFrame frame = frameOf(placed, static_cast<std::int32_t>(tasks.size()) - 1, accesses);
    checked.accesses = frame.accesses.size();
    for (const TaskAccess& access : frame.accesses) {
      if (access.mode == AccessMode::Write) checked.marks += access.declared.volume();
    }
  }
  checks_.layOut(tasks);
}

void DeviceRun::report(const TaskFinding& finding) {
  failedAt_ = finding.moment;
  const PlacedBlock& placed = placed_.block(nodes_[static_cast<std::size_t>(finding.task)]);
  TaskAccesses accesses;
  reportFinding(frameOf(placed, finding.task, accesses), finding);
}

void DeviceRun::expectNothingFound(std::span<const std::unique_ptr<DeviceRun>> runs) {
  const bool any =
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->checks_.isRaised(); });
  if (!any) return;
  std::optional<DeviceChecks::Candidate> best;
  for (const auto& run : runs) {
    const std::optional<DeviceChecks::Candidate> found = run->checks_.earliest();
    if (found && (!best || found->comesBefore(*best))) best = found;
  }
  TESSERA_EXPECT(best.has_value(), "a kernel says that it has found something, and there is nothing");
  best->whose->report(best->finding);
}

/// Nothing of the last user of a buffer is to be taken for a value.
void DeviceRun::unsetGathers(const FillPlan& fill, DeviceStream stream) {
  if (fill.firstGather < 0) return;
  for (const std::int32_t row : numbers_) {
    const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
    const std::int64_t bytes =
        side_.store.gatherLayout(plan_, buffer).span() * data_.labels().info(fill.label).type.bytes();
    side_.backend->fill(stream, side_.store.gatherData(plan_, buffer), 0xFF, bytes);
  }
}

bool DeviceRun::isPackedHere(const PackItem& item) const {
  const std::ptrdiff_t n = &item - graph_.packItems.data();
  TESSERA_EXPECT(n >= 0 && n < std::ssize(graph_.packItems), "ask for items of the graph");
  return placed_.packPlaces[static_cast<std::size_t>(n)] == side_.slot;
}

/// What is read on any device is read in the home of its patch.
void DeviceRun::listOldNeeds() {
  for (const OldNeed& need : placed_.oldNeeds) {
    const NodePlace place = need.place == kOnHost ? kOnHost : static_cast<NodePlace>(side_.slot);
    const bool known = std::any_of(oldNeeds_.begin(), oldNeeds_.end(), [&](const OldNeed& other) {
      return other.label == need.label && other.level == need.level && other.place == place;
    });
    if (!known) oldNeeds_.push_back({need.label, need.level, place});
  }
}

void DeviceRun::bringOld() {
  using To = DeviceMoves::CopyTo;
  for (const OldNeed& need : oldNeeds_)
    bring(need.place == kOnHost ? To::Host : To::Device, need.label, need.level);
}

void DeviceRun::begin() {
  checks_.beginStep({plan_, inputs_.shownStep, inputs_.time});
  if (isReplayed_) return beginReplay();
  side_.lane.begin(*work_, *this);
  for (const Range& tasks : first_)
    side_.lane.submit(static_cast<std::int32_t>(tasks.begin), static_cast<std::int32_t>(tasks.size()));
}

std::vector<std::int32_t> DeviceRun::localsToBring(LabelId label, LevelId level, MemorySpace from,
                                                   MemorySpace to) const {
  std::vector<std::int32_t> locals;
  const Range range = graphs_.localsOfLevel[static_cast<std::size_t>(level)];
  for (auto local = static_cast<std::int32_t>(range.begin); local < range.end; ++local) {
    const auto n = static_cast<std::size_t>(local);
    if (placed_.homes[n] != side_.slot || !side_.store.has(label, n)) continue;
    const Status& status = data_.valueStatus(Generation::Old, label, n);
    if (needsCopyTo(status, to) && !needsCopyTo(status, from)) locals.push_back(local);
  }
  return locals;
}

void DeviceRun::bring(DeviceMoves::CopyTo to, LabelId label, LevelId level) {
  const bool in = to == DeviceMoves::CopyTo::Device;
  const MemorySpace target = in ? side_.space() : kHost;
  const MemorySpace source = in ? kHost : side_.space();
  const std::vector<std::int32_t> locals = localsToBring(label, level, source, target);
  if (locals.empty()) return;
  const std::size_t kind = 2 * static_cast<std::size_t>(label) + (in ? 0 : 1);
  const DeviceTurn::Held held(turn_, DeviceTurn::Wait);
  side_.lane.putBeside([&](DeviceStream stream) {
    const auto copy = [&](std::span<const std::int32_t> some) {
      const std::int64_t before = moves_.counts().bytesMoved();
      LaunchScope scope(watch_, copyKinds_[kind], std::span(&stream, 1), std::ssize(some));
      moves_.launchCopy(to, label, Generation::Old, some, stream);
      scope.carries(moves_.counts().bytesMoved() - before);
    };
    if (paging_ == nullptr) return copy(locals);
    paging_->copy(static_cast<std::size_t>(side_.slot), label, in, locals, stream, copy);
  });
  for (const std::int32_t local : locals) {
    broughtTo(data_.valueStatus(Generation::Old, label, static_cast<std::size_t>(local)), target);
  }
  side_.lane.synchronize();  // the host goes on to read, or to overwrite, what was copied
}

void DeviceRun::bringHome(std::span<const LabelId> labels) {
  for (const LabelId label : labels) {
    for (LevelId level = 0; level < std::ssize(graphs_.localsOfLevel); ++level) {
      bring(DeviceMoves::CopyTo::Host, label, level);
    }
  }
}

bool DeviceRun::run(std::int32_t node) {
  const std::int32_t task = taskOf_[static_cast<std::size_t>(node)];
  if (isReplayed_) {
    comeTo(task);
  } else {
    side_.lane.submit(task);
  }
  return !reports(node);
}

void DeviceRun::serve() {
  const DeviceTurn::Held held(turn_, DeviceTurn::IfFree);
  if (!held) return;
  side_.lane.serve([this](std::int32_t task) { endOf(task); });
}

bool DeviceRun::finish() {
  if (!side_.lane.allLaunched()) serve();
  return side_.lane.allLaunched();
}

/// The device has ended a task of the lane.
void DeviceRun::endOf(std::int32_t task) {
  if (!isReplayed_) return end(task, loops_);
  for (const std::int32_t one : replay_->tasksOf(task)) {
    if (reports_[static_cast<std::size_t>(one)] != 0) end(one, *replay_);
  }
}

/// What a task has found for reductions is given now; `finished(task)` gives it.
template <class Results>
void DeviceRun::end(std::int32_t task, Results& results) {
  const PlacedBlock& placed = placed_.block(nodes_[static_cast<std::size_t>(task)]);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  if (placed.kind == PlacedKind::Original && block.kind == NodeKind::Task &&
      graph_.units[static_cast<std::size_t>(block.item)].contributions.size() > 0) {
    callBody(placed, task, results.finished(task));
  }
  ended_.push(task);
}

std::vector<std::int32_t> DeviceRun::begun() const {
  std::vector<std::int32_t> nodes;
  for (const std::int32_t task : side_.lane.begun()) {
    if (!isReplayed_) {
      nodes.push_back(nodes_[static_cast<std::size_t>(task)]);
      continue;
    }
    for (const std::int32_t one : replay_->tasksOf(task)) {
      if (reports_[static_cast<std::size_t>(one)] != 0)
        nodes.push_back(nodes_[static_cast<std::size_t>(one)]);
    }
  }
  return nodes;
}

void DeviceRun::launch(std::int32_t kind, std::span<const std::int32_t> tasks,
                       std::span<const DeviceStream> streams) {
  if (paging_ == nullptr) return put(kind, tasks, streams);
  paging_->launch(static_cast<std::size_t>(side_.slot), tasks, streams,
                  [&](std::span<const std::int32_t> some) { put(kind, some, streams); });
}

void DeviceRun::put(std::int32_t kind, std::span<const std::int32_t> tasks,
                    std::span<const DeviceStream> streams) {
  const PlacedBlock& placed =
      placed_.blocks[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(kind)])];
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  if (placed.kind == PlacedKind::Original && block.kind == NodeKind::Task) {
    return launchTasks(kind, placed, tasks, streams);
  }
  const std::int64_t before = moves_.counts().bytesMoved();
  LaunchScope scope(watch_, kind, streams, std::ssize(tasks));
  launchMoves(placed, tasks, streams.front());
  scope.carries(moves_.counts().bytesMoved() - before);
}

void DeviceRun::launchMoves(const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                            DeviceStream stream) {
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  switch (placed.kind) {
    case PlacedKind::CopyIn:
    case PlacedKind::CopyOut:
      return launchCopies(placed, tasks, stream);
    case PlacedKind::Pack:
      setNumbers(tasks, block.item);
      return moves_.launchPack(numbers_, stream);
    case PlacedKind::Original:
    case PlacedKind::Twin:
      TESSERA_EXPECT(block.kind == NodeKind::Fill, "run tasks, fills and copies on a device");
      return launchFills(placed, tasks, stream);
  }
}

void DeviceRun::launchFills(const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                            DeviceStream stream) {
  const std::int32_t fill = graph_.blocks[static_cast<std::size_t>(placed.block)].item;
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  setNumbers(tasks, 0);
  if (checks_.mode().accesses) unsetGathers(plan, stream);
  moves_.launchFill(fill, numbers_, timeOf(plan), stream);
}

void DeviceRun::launchCopies(const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                             DeviceStream stream) {
  setNumbers(tasks, graph_.blocks[static_cast<std::size_t>(placed.block)].firstLocal);
  putCopies(placed, stream);
  noteCopied(placed);
}

void DeviceRun::setNumbers(std::span<const std::int32_t> tasks, std::int32_t first) {
  numbers_.clear();
  for (const std::int32_t task : tasks) numbers_.push_back(first + numberOf(task));
}

/// Conditions hold at the start of the step for Old, at its end for New.
double DeviceRun::timeOf(const FillPlan& fill) const {
  return fill.generation == Generation::Old ? inputs_.time : inputs_.time + inputs_.dt;
}

void DeviceRun::putCopies(const PlacedBlock& placed, DeviceStream stream) {
  const bool in = placed.kind == PlacedKind::CopyIn;
  moves_.launchCopy(in ? DeviceMoves::CopyTo::Device : DeviceMoves::CopyTo::Host, placed.label,
                    Generation::New, numbers_, stream);
}

void DeviceRun::noteCopied(const PlacedBlock& placed) {
  const bool in = placed.kind == PlacedKind::CopyIn;
  for (const std::int32_t local : numbers_) {
    broughtTo(data_.valueStatus(Generation::New, placed.label, static_cast<std::size_t>(local)),
              in ? side_.space() : kHost);
  }
}

void DeviceRun::launchTasks(std::int32_t kind, const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                            std::span<const DeviceStream> streams) {
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  loops_.begin(static_cast<std::int32_t>(streams.size()));
  for (const std::int32_t task : tasks) {
    callBody(placed, task, loops_.instance(task));
    noteWritten(data_, graph_, unit, block.firstLocal + numberOf(task), side_.space());
  }
  const LaunchScope scope(watch_, kind, streams, std::ssize(tasks));
  loops_.launch(streams);
}

TaskFrame DeviceRun::frameOf(const PlacedBlock& placed, std::int32_t task, TaskAccesses& accesses) {
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  const std::int32_t number = numberOf(task);
  TaskFrame frame = frames_.frameOf(unit, block, number, inputs_);
  frames_.resolve(unit, number, block.firstLocal + number, frame.patch, accesses, &side_.store);
  checks_.equip(task, frame, accesses.all());
  frame.accesses = accesses.all();
  return frame;
}

const TaskDeclaration& DeviceRun::declarationOf(const PlacedBlock& placed) const {
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
  return graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
}

void DeviceRun::callBody(const PlacedBlock& placed, std::int32_t task, DeviceLoops& loops) {
  const bool records = !loops.finished();
  TaskAccesses accesses;
  TaskFrame frame = frameOf(placed, task, accesses);
  frame.loops = &loops;
  const TaskBody& body = declarationOf(placed).body;
  if (records) checks_.recordBefore(task, frame, loops);
  if (checks_.mode().accesses) {
    body.deviceChecked(frame);
    if (!records) expectContributions(frame);
  } else {
    body.device(frame);
  }
  if (records) checks_.recordAfter(frame, loops);
}

}  // namespace tessera::detail
