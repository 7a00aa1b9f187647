#include "scheduler/step/task_nodes.hpp"

#include <algorithm>
#include <cstring>

#include "core/profile/kokkos_annotations.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "datawarehouse/checked/finite_watch.hpp"
#include "scheduler/device_step/device_nodes.hpp"

namespace tessera::detail {

TaskNodes::TaskNodes(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, HostMoves& moves,
                     TaskFrames& frames, const RunningStep& step, const RunnerOptions& options, int workers)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      data_(data),
      moves_(moves),
      frames_(frames),
      step_(step),
      options_(options),
      scratch_(graphs, plan, workers),
      prefetches_(graphs, plan, data, moves, workers),
      begun_(graph_) {
  for (const TaskUnit& unit : graph_.units) {
    const auto accesses = graph_.accessesOf(unit);
    const bool gathers = std::any_of(accesses.begin(), accesses.end(),
                                     [this](const UnitAccess& access) { return graph_.isScratch(access); });
    usesScratch_.push_back(gathers || !graph_.declarationOf(unit).scratch.empty() ? 1 : 0);
  }
}

bool TaskNodes::run(const NodeAt& at, int worker) {
  const TaskUnit& unit = graph_.unitOf(at.block);
  const TaskDeclaration& task = graph_.declarationOf(unit);
  if (task.body.begins) return begin(at, unit, task, worker);
  if (step_.isRefused.load(std::memory_order_relaxed)) return true;
  if (unit.part == UnitPart::AllPatches) return runOnPatches(at, worker);
  if (unit.part == UnitPart::Release) {
    if (step_.placed != nullptr) noteWritten(data_, graph_, unit, at.local(), kHost);
    return true;
  }
  TaskAccesses accesses;
  TaskFrame frame = frames_.frameOf(unit, at.block, at.number, step_.inputs, frames_.adderOfWorker(worker));
  frames_.resolve(unit, at.number, at.local(), frame.patch, accesses);
  if (usesScratch_[static_cast<std::size_t>(at.block.item)] != 0)
    gatherScratch(unit, at, frame, scratch_.memory(worker), accesses);
  frame.accesses = accesses.all();
  FiniteWatch watch(frame.accesses, frame.finalLoops, data_.labels());
  if (options_.findNonFinite && !options_.checked) frame.watch = &watch;
  if (!options_.checked) frame.ahead = prefetches_.during(at.block, at.number, frame.patch, worker);
  if (options_.regions != nullptr) {
    const NamedKernel named(*options_.regions, task.name, static_cast<std::uint32_t>(worker));
    runBody(frame, accesses.all(), task);
  } else {
    runBody(frame, accesses.all(), task);
  }
  lookAtResults(at, unit, frame);
  return true;
}

void TaskNodes::lookAtResults(const NodeAt& at, const TaskUnit& unit, TaskFrame& frame) {
  if (options_.findNonFinite) expectFinite(frame);
  if (options_.checked && frame.patch != nullptr) borders_.compare(frame, &unit, step_.replay);
  if (step_.placed != nullptr) noteWritten(data_, graph_, unit, at.local(), kHost);
}

/// What the body sees is kept until its work has ended; also what it reads through scratch windows, which
/// other tasks of the worker would overwrite.
bool TaskNodes::begin(const NodeAt& at, const TaskUnit& unit, const TaskDeclaration& task, int worker) {
  if (!step_.isRefused.load(std::memory_order_relaxed)) {
    BegunTasks::Slot& slot = begun_.slotOf(at.block, at.number);
    TaskAccesses accesses;
    slot.frame = frames_.frameOf(unit, at.block, at.number, step_.inputs, frames_.adderOfWorker(worker));
    frames_.resolve(unit, at.number, at.local(), slot.frame.patch, accesses);
    if (slot.scratch.data() == nullptr && scratch_.most() > 0) slot.scratch = AlignedMemory(scratch_.most());
    if (usesScratch_[static_cast<std::size_t>(at.block.item)] != 0)
      gatherScratch(unit, at, slot.frame, slot.scratch.data(), accesses);
    slot.accesses.assign(accesses.all().begin(), accesses.all().end());
    slot.frame.accesses = slot.accesses;
    slot.work = task.body.begins(slot.frame);
  }
  begun_.submit(at.block, at.number);
  return false;
}

std::span<const NodeId> TaskNodes::ended() {
  ended_.clear();
  if (begun_.isEmpty()) return ended_;
  begun_.poll([this](BegunTasks::Slot& slot) {
    const NodeAt at(graph_, slot.node);
    if (slot.work != nullptr) lookAtResults(at, graph_.unitOf(at.block), slot.frame);
    ended_.push_back(slot.node);
  });
  return ended_;
}

/// Nobody else runs a node of this unit meanwhile.
bool TaskNodes::runOnPatches(const NodeAt& at, int worker) {
  const TaskUnit& unit = graph_.unitOf(at.block);
  const TaskDeclaration& task = graph_.declarationOf(unit);
  TaskFrame frame = frames_.frameOf(unit, at.block, at.number, step_.inputs, frames_.adderOfWorker(worker));
  PatchFrames& patches = frames_.framesOnPatches(unit, at.block, frame);
  const auto callBody = [&] {
    if (options_.checked) {
      runCheckedOnPatches(frame, patches.accesses, task.body.checked);
    } else {
      task.body.cpu(frame);
    }
  };
  if (options_.regions != nullptr) {
    const NamedKernel named(*options_.regions, task.name, static_cast<std::uint32_t>(worker));
    callBody();
  } else {
    callBody();
  }
  for (const TaskFrame& patch : patches.frames) {
    if (options_.findNonFinite) expectFinite(patch);
    if (options_.checked) borders_.compare(patch, &unit, step_.replay);
  }
  return true;
}

void TaskNodes::runBody(TaskFrame& frame, std::span<TaskAccess> accesses, const TaskDeclaration& task) {
  if (options_.checked) {
    runChecked(frame, accesses, task.body.checked);
  } else {
    task.body.cpu(frame);
  }
}

void TaskNodes::gatherScratch(const TaskUnit& unit, const NodeAt& at, const TaskFrame& frame,
                              std::byte* memory, TaskAccesses& accesses) {
  auto resolved = accesses.all().begin();
  for (const UnitAccess& access : graph_.accessesOf(unit)) {
    if (graph_.isScratch(access)) gatherScratch(access, at.number, memory, *resolved);
    ++resolved;
  }
  if (graph_.declarationOf(unit).scratch.empty()) return;
  frames_.addScratch(unit, frame.patch, memory + scratch_.ownOffset(unit), accesses);
}

void TaskNodes::gatherScratch(const UnitAccess& access, std::int32_t number, std::byte* begin,
                              TaskAccess& resolved) {
  const auto fill = static_cast<std::size_t>(access.fill);
  const ScratchWindows::Window& window = scratch_.window(fill, number);
  std::byte* const memory = begin + scratch_.offset(fill);
  resolved.data = memory + window.lead;
  resolved.layout = window.layout;
  // Nothing of the task before is taken for a value.
  if (options_.checked) std::memset(memory, 0xFF, static_cast<std::size_t>(scratch_.bytes(fill)));
  moves_.gatherScratch(access.fill, number, step_.inputs.time, resolved.data, resolved.layout);
}

}  // namespace tessera::detail
