#include "scheduler/device_step/device_nodes.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "scheduler/device_step/device_side.hpp"
#include "scheduler/device_step/launch_names.hpp"

namespace tessera::detail {

void noteWritten(DataWarehouse& data, const CompiledGraph& graph, const TaskUnit& unit, std::int32_t local,
                 MemorySpace space) {
  for (const UnitAccess& access : graph.accessesOf(unit)) {
    if (!access.writes()) continue;
    wroteOn(data.valueStatus(Generation::New, access.label, static_cast<std::size_t>(local)), space);
  }
}

DeviceNodes::DeviceNodes(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                         const PlacedGraph& placed, DeviceSide& side, const LaneLayout& layout,
                         DeviceMoves& fills, TaskFrames& frames, const StepInputs& inputs,
                         const RunnerOptions& options)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      data_(data),
      backend_(*side.backend),
      store_(side.store),
      side_(side),
      layout_(layout),
      fills_(fills),
      frames_(frames),
      constants_(side.constants),
      adder_(frames.adderOfDevice(side.slot)),
      inputs_(inputs),
      loops_(backend_, side.tables, side.pinned),
      watch_(side.timeline.get(), options.nvtx),
      checks_(side.lane, side.findings, {options.checked, options.findNonFinite, options.devices.graphs},
              [this](const TaskError& finding) { report(finding); }) {
  layOutChecks();
  nameLaunches();
  if (DevicePager* pager = side.pager(); pager != nullptr) {
    paging_ = std::make_unique<DevicePaging>(graphs, plan, placed, data, store_, *pager, layout.nodes(),
                                             watch_, asText(backend_.info()));
  }
}

void DeviceNodes::nameLaunches() {
  const WorkNames names(graphs_, plan_);
  for (std::int32_t kind = 0; kind < layout_.kindCount(); ++kind) {
    const auto [name, work] = launchName(names, data_.labels(), graph_, layout_.kind(kind));
    watch_.add(name, work);
  }
  for (LabelId label = 0; label < data_.labels().count(); ++label) {
    for (const CopyDirection way : {CopyDirection::HostToDevice, CopyDirection::DeviceToHost}) {
      for (const Generation generation : {Generation::Old, Generation::New})
        watch_.add(copyName(data_.labels(), generation, label, way), DeviceWork::Copy);
    }
  }
}

void DeviceNodes::layOutChecks() {
  std::vector<CheckedTask> tasks(layout_.nodes().size());
  for (std::int32_t task = 0; task < std::ssize(tasks); ++task) {
    if (!isTask(layout_.blockOf(task))) continue;
    CheckedTask& checked = tasks[static_cast<std::size_t>(task)];
    TaskAccesses accesses;
    const TaskFrame frame = frameOf(task, accesses);
    checked.accesses = frame.accesses.size();
    for (const TaskAccess& access : frame.accesses) {
      if (access.isMarked())
        checked.marks += access.declared.volume() * data_.labels().info(access.label).type.planes();
    }
  }
  checks_.layOut(tasks);
}

void DeviceNodes::report(const TaskError& finding) {
  failedAt_ = finding.moment;
  TaskAccesses accesses;
  reportFinding(frameOf(finding.task, accesses), finding);
}

void DeviceNodes::beginStep() {
  checks_.beginStep({plan_, inputs_.shownStep, inputs_.time});
  if (paging_) paging_->begin();
}

void DeviceNodes::endStep() {
  if (paging_) paging_->end();
}

void DeviceNodes::launch(std::int32_t kind, std::span<const std::int32_t> tasks,
                         std::span<const DeviceStream> streams) {
  if (!paging_) return put(kind, tasks, streams);
  paging_->launch(tasks, streams, [&](std::span<const std::int32_t> some) { put(kind, some, streams); });
}

void DeviceNodes::put(std::int32_t kind, std::span<const std::int32_t> tasks,
                      std::span<const DeviceStream> streams) {
  if (hasBodies(kind)) return launchTasks(kind, tasks, streams);
  const std::int64_t before = fills_.counts().bytesMoved();
  LaunchScope scope(watch_, kind, streams, std::ssize(tasks));
  launchMoves(layout_.kind(kind), tasks, streams.front());
  scope.carries(fills_.counts().bytesMoved() - before);
}

void DeviceNodes::launchTasks(std::int32_t kind, std::span<const std::int32_t> tasks,
                              std::span<const DeviceStream> streams) {
  std::int64_t bytes = 0;
  for (const std::int32_t task : tasks) bytes += scratchBytes(task);
  DevicePool* pool = side_.poolWithRoomFor(bytes);
  if (pool == nullptr && tasks.size() > 1) {
    const std::size_t half = tasks.size() / 2;
    launchTasks(kind, tasks.first(half), streams);
    return launchTasks(kind, tasks.subspan(half), streams);
  }
  if (pool == nullptr) pool = &side_.tables;
  loops_.begin(static_cast<std::int32_t>(streams.size()));
  std::byte* scratch = nullptr;
  if (bytes > 0)
    scratch = static_cast<std::byte*>(pool->allocate(streams.front(), bytes, "scratch fields of tasks"));
  std::int64_t at = 0;
  for (const std::int32_t task : tasks) {
    callBody(task, loops_.instance(task), scratch == nullptr ? nullptr : scratch + at);
    at += scratchBytes(task);
  }
  noteLaunched(kind, tasks);
  const LaunchScope scope(watch_, kind, streams, std::ssize(tasks));
  loops_.launch(streams);
  if (scratch != nullptr) pool->free(streams.front(), scratch);
}

std::int64_t DeviceNodes::scratchBytes(std::int32_t task) const {
  const PlacedBlock& placed = layout_.blockOf(task);
  const NodeBlock& block = original(placed);
  const TaskUnit& unit = unitOf(placed);
  if (graph_.plan->tasks()[unit.task.index()].scratch.empty()) return 0;
  const auto own = static_cast<std::size_t>(block.firstLocal + layout_.numberOf(task));
  return frames_.scratchBytesOf(unit, &data_.hierarchy().patch(data_.ownPatches()[own]));
}

bool DeviceNodes::hasScratch() const {
  const auto& tasks = graph_.plan->tasks();
  return std::any_of(tasks.begin(), tasks.end(), [](const TaskDeclaration& t) { return !t.scratch.empty(); });
}

void DeviceNodes::launchMoves(const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                              DeviceStream stream) {
  const NodeBlock& block = original(placed);
  if (isCopy(placed)) {
    setNumbers(tasks, block.firstLocal);
    putCopies(placed, stream);
    return noteCopied(placed);
  }
  if (placed.kind == PlacedKind::Pack) {
    setNumbers(tasks, block.item);
    return fills_.launchPack(numbers_, stream);
  }
  TESSERA_EXPECT(block.kind == NodeKind::Fill, "run tasks, fills and copies on a device");
  const FillPlan& plan = graph_.fillOf(block);
  setNumbers(tasks, 0);
  if (checks_.mode().accesses) unsetGathers(plan, stream);
  fills_.launchFill(block.item, numbers_, timeOf(plan), stream);
}

/// Nothing of the last user of a buffer is to be taken for a value.
void DeviceNodes::unsetGathers(const FillPlan& fill, DeviceStream stream) {
  if (fill.firstGather < 0) return;
  for (const std::int32_t row : numbers_) {
    const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
    const std::int64_t bytes = store_.gatherLayout(plan_, buffer).bytes(data_.labels().info(fill.label).type);
    backend_.fill(stream, store_.gatherData(plan_, buffer), 0xFF, bytes);
  }
}

void DeviceNodes::copyValues(DeviceMoves::CopyTo to, Generation generation, LabelId label,
                             std::span<const std::int32_t> locals, DeviceStream stream) {
  const bool in = to == DeviceMoves::CopyTo::Device;
  const std::int32_t kind =
      layout_.kindCount() + 4 * label + (in ? 0 : 2) + (generation == Generation::Old ? 0 : 1);
  const auto copy = [&](std::span<const std::int32_t> some) {
    const std::int64_t before = fills_.counts().bytesMoved();
    LaunchScope scope(watch_, kind, std::span(&stream, 1), std::ssize(some));
    fills_.launchCopy(to, label, generation, some, stream);
    scope.carries(fills_.counts().bytesMoved() - before);
  };
  if (!paging_) return copy(locals);
  paging_->copy(generation, label, in ? PieceAccess::Change : PieceAccess::Read, locals, stream, copy);
}

void DeviceNodes::putCopies(const PlacedBlock& placed, DeviceStream stream) {
  const bool in = placed.kind == PlacedKind::CopyIn;
  fills_.launchCopy(in ? DeviceMoves::CopyTo::Device : DeviceMoves::CopyTo::Host, placed.label,
                    Generation::New, numbers_, stream);
}

void DeviceNodes::noteCopied(const PlacedBlock& placed) {
  const MemorySpace to = placed.kind == PlacedKind::CopyIn ? store_.space() : kHost;
  for (const std::int32_t local : numbers_) {
    copiedTo(data_.valueStatus(Generation::New, placed.label, static_cast<std::size_t>(local)), to);
  }
}

void DeviceNodes::setNumbers(std::span<const std::int32_t> tasks, std::int32_t first) {
  numbers_.clear();
  for (const std::int32_t task : tasks) numbers_.push_back(first + layout_.numberOf(task));
}

double DeviceNodes::timeOf(const FillPlan& fill) const {
  return inputs_.timeOf(fill.generation, data_.labels().info(fill.label).stagePart);
}

TaskFrame DeviceNodes::frameOf(std::int32_t task, TaskAccesses& accesses, std::byte* scratch) {
  const PlacedBlock& placed = layout_.blockOf(task);
  const NodeBlock& block = original(placed);
  const std::int32_t number = layout_.numberOf(task);
  TaskFrame frame = frames_.frameOf(unitOf(placed), block, number, inputs_, adder_);
  frames_.resolve(unitOf(placed), number, block.firstLocal + number, frame.patch, accesses, &store_);
  frames_.addScratch(unitOf(placed), frame.patch, scratch, accesses);
  checks_.equip(task, frame, accesses.all());
  frame.accesses = accesses.all();
  frame.tables = constants_;
  return frame;
}

bool DeviceNodes::contributes(std::int32_t task) const {
  const PlacedBlock& placed = layout_.blockOf(task);
  return isTask(placed) && unitOf(placed).contributions.size() > 0;
}

bool DeviceNodes::hasBodies(std::int32_t kind) const { return isTask(layout_.kind(kind)); }

void DeviceNodes::callBody(std::int32_t task, DeviceLoops& loops, std::byte* scratch) {
  const bool records = !loops.finished();
  TaskAccesses accesses;
  TaskFrame frame = frameOf(task, accesses, scratch);
  frame.loops = &loops;
  const TaskBody& body = graph_.plan->task(unitOf(layout_.blockOf(task)).task).body;
  if (records) checks_.recordBefore(task, frame, loops);
  if (checks_.mode().accesses) {
    body.deviceChecked(frame);
    if (!records) expectContributions(frame);
  } else {
    body.device(frame);
  }
  if (records) checks_.recordAfter(frame, loops);
}

DeviceMoves::KeptValues DeviceNodes::keepValues(std::int32_t kind, std::span<const std::int32_t> tasks,
                                                DeviceStream stream) {
  const PlacedBlock& placed = layout_.kind(kind);
  if (isCopy(placed) || placed.kind == PlacedKind::Pack) return {};
  setNumbers(tasks, 0);
  return fills_.keepValues(original(placed).item, numbers_, stream);
}

void DeviceNodes::evaluate(std::int32_t kind, std::span<const std::int32_t> tasks,
                           const DeviceMoves::KeptValues& kept) {
  const std::int32_t fill = original(layout_.kind(kind)).item;
  setNumbers(tasks, 0);
  fills_.evaluate(fill, numbers_, timeOf(graph_.fills[static_cast<std::size_t>(fill)]), kept);
}

std::int64_t DeviceNodes::captureMoves(std::int32_t kind, std::span<const std::int32_t> tasks,
                                       const DeviceMoves::KeptValues& kept, DeviceStream stream) {
  const PlacedBlock& placed = layout_.kind(kind);
  const NodeBlock& block = original(placed);
  const std::int64_t before = fills_.counts().bytesMoved();
  if (isCopy(placed)) {
    setNumbers(tasks, block.firstLocal);
    putCopies(placed, stream);
  } else if (placed.kind == PlacedKind::Pack) {
    setNumbers(tasks, block.item);
    fills_.launchPack(numbers_, stream);
  } else {
    setNumbers(tasks, 0);
    fills_.captureFill(block.item, numbers_, kept, stream);
  }
  return fills_.counts().bytesMoved() - before;
}

void DeviceNodes::noteLaunched(std::int32_t kind, std::span<const std::int32_t> tasks) {
  const PlacedBlock& placed = layout_.kind(kind);
  const std::int32_t first = original(placed).firstLocal;
  if (isCopy(placed)) {
    setNumbers(tasks, first);
    noteCopied(placed);
  } else if (isTask(placed)) {
    for (const std::int32_t task : tasks) {
      noteWritten(data_, graph_, unitOf(placed), first + layout_.numberOf(task), store_.space());
    }
  }
}

}  // namespace tessera::detail
