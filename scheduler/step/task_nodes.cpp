#include "scheduler/step/task_nodes.hpp"

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
      prefetches_(graphs, plan, data, moves, workers) {}

bool TaskNodes::run(const NodeAt& at, int worker) {
  if (step_.isRefused.load(std::memory_order_relaxed)) return true;
  const TaskUnit& unit = graph_.unitOf(at.block);
  if (unit.part == UnitPart::AllPatches) return runOnPatches(at, worker);
  if (unit.part == UnitPart::Release) {
    if (step_.placed != nullptr) noteWritten(data_, graph_, unit, at.local(), kHost);
    return true;
  }
  const TaskDeclaration& task = graph_.declarationOf(unit);
  TaskAccesses accesses;
  TaskFrame frame = frames_.frameOf(unit, at.block, at.number, step_.inputs, frames_.adderOfWorker(worker));
  frames_.resolve(unit, at.number, at.local(), frame.patch, accesses);
  gatherScratch(unit, at.number, worker, accesses);
  if (!task.scratch.empty())
    frames_.addScratch(unit, frame.patch, scratch_.memory(worker) + scratch_.ownOffset(unit), accesses);
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
  if (options_.findNonFinite) expectFinite(frame);
  if (options_.checked && frame.patch != nullptr) borders_.compare(frame, &unit, step_.replay);
  if (step_.placed != nullptr) noteWritten(data_, graph_, unit, at.local(), kHost);
  return true;
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

void TaskNodes::gatherScratch(const TaskUnit& unit, std::int32_t number, int worker, TaskAccesses& accesses) {
  auto resolved = accesses.all().begin();
  for (const UnitAccess& access : graph_.accessesOf(unit)) {
    if (graph_.isScratch(access)) gatherScratch(access, number, worker, *resolved);
    ++resolved;
  }
}

void TaskNodes::gatherScratch(const UnitAccess& access, std::int32_t number, int worker,
                              TaskAccess& resolved) {
  const auto fill = static_cast<std::size_t>(access.fill);
  const ScratchWindows::Window& window = scratch_.window(fill, number);
  std::byte* const memory = scratch_.memory(worker) + scratch_.offset(fill);
  resolved.data = memory + window.lead;
  resolved.layout = window.layout;
  // Nothing of the task before is taken for a value.
  if (options_.checked) std::memset(memory, 0xFF, static_cast<std::size_t>(scratch_.bytes(fill)));
  moves_.gatherScratch(access.fill, number, step_.inputs.time, resolved.data, resolved.layout);
}

}  // namespace tessera::detail
