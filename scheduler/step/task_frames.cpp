#include "scheduler/step/task_frames.hpp"

#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/task_place.hpp"
#include "taskgraph/task_scratch.hpp"

namespace tessera::detail {

TaskFrames::TaskFrames(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, bool checked,
                       int workers, std::size_t devices)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      data_(data),
      checked_(checked),
      workers_(workers) {
  for (const TaskDeclaration& task : graph_.plan->tasks()) {
    TESSERA_EXPECT(task.reads.size() + task.writes.size() + task.scratch.size() <= TaskAccesses::kMost,
                   "split a task with more than 96 accesses");
    TESSERA_EXPECT(task.scratch.empty() || (!task.oncePerRank && task.streams == 1),
                   "give scratch to tasks on patches that take one stream");
    places_.push_back(placeOf(task));
  }
  layOutSums(static_cast<std::size_t>(workers) + devices);
  layOutContributions();
  onPatches_.resize(graph_.units.size());
  for (LabelId table = 0; table < data.labels().tableCount(); ++table) {
    const std::vector<double>& values = *data.labels().table(table).values;
    tables_.emplace_back(values.data(), std::ssize(values));
  }
  layOutFrames();
}

void TaskFrames::layOutFrames() {
  for (const TaskUnit& unit : graph_.units) {
    const TaskDeclaration& task = graph_.declarationOf(unit);
    TaskFrame& frame = alike_.emplace_back();
    frame.task = task.name;
    frame.declaredAt = places_[unit.task.index()];
    frame.hierarchy = &data_.hierarchy();
    frame.level = &data_.hierarchy().level(std::max(unit.level, 0));
    frame.labels = &data_.labels();
    frame.finalLoops = task.finalLoops;
    frame.usesDt = task.usesDt;
    frame.readsReduced = task.readsReduced;
    frame.readsTables = task.readsTables;
    frame.tables = tables_;
  }
}

void TaskFrames::forgetContributions() {
  for (PatchContribution& c : contributions_) c.given = false;
  std::fill(sums_.begin(), sums_.end(), ExactSum());
}

void TaskFrames::layOutSums(std::size_t adders) {
  sumOfReduction_.assign(static_cast<std::size_t>(graphs_.labels->reductionCount()), -1);
  for (const ReductionPlan& plan : graph_.reductions) {
    if (plan.kind != ReductionKind::Sum) continue;
    sumOfReduction_[static_cast<std::size_t>(plan.reduction)] = static_cast<std::int32_t>(sumCount_++);
  }
  sums_.resize(adders * sumCount_);
}

ExactSum* TaskFrames::sumOf(LabelId reduction, std::size_t adder) {
  const std::int32_t place = sumOfReduction_[static_cast<std::size_t>(reduction)];
  return place < 0 ? nullptr : &sums_[adder * sumCount_ + static_cast<std::size_t>(place)];
}

ExactSum TaskFrames::sumOf(LabelId reduction) const {
  ExactSum total;
  const auto place = static_cast<std::size_t>(sumOfReduction_[static_cast<std::size_t>(reduction)]);
  for (std::size_t at = place; at < sums_.size(); at += sumCount_) total.add(sums_[at]);
  return total;
}

void TaskFrames::layOutContributions() {
  contributions_.reserve(static_cast<std::size_t>(graph_.contributionCount));
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph_.unitOf(block);
    if (unit.part == UnitPart::Release) continue;
    const TaskDeclaration& task = graph_.declarationOf(unit);
    TESSERA_EXPECT(unit.contributions.begin == static_cast<std::int64_t>(contributions_.size()),
                   "number contributions in the order of the blocks");
    for (std::int32_t n = 0; n < block.count; ++n) {
      for (const ContributionDeclaration& c : task.contributions)
        contributions_.push_back({c.reduction, 0.0, nullptr, false});
    }
  }
}

TaskAccess TaskFrames::resolveGather(const UnitAccess& access, std::int32_t number, const Patch* patch,
                                     DeviceStore* store) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(access.fill)];
  const bool whole = access.reach == Reach::WholeLevel;
  const Level& level = data_.hierarchy().level(access.level);
  const Centering centering = data_.labels().info(access.label).centering;
  const Box declared =
      whole ? level.domainOf(centering)
            : readBox(level, seenPatch(data_.hierarchy(), *patch, access.reach), centering, access.halo);
  TaskAccess resolved;
  resolved.mode = access.mode;
  resolved.reach = access.reach;
  resolved.label = access.label;
  resolved.level = access.level;
  resolved.declared = declared;
  resolved.holes = checked_ && whole && level.cellCount() < level.domain().volume();
  if (fill.firstGather < 0) {
    const SharedWindow& shared = graphs_.shared[static_cast<std::size_t>(fill.shared.begin)];
    const auto first = static_cast<std::size_t>(shared.members.front());
    resolved.data = store != nullptr ? store->data(fill.generation, access.label, first)
                                     : data_.data(fill.generation, access.label, first);
    resolved.layout =
        store != nullptr ? store->layout(access.label, first) : data_.layout(access.label, first);
    return resolved;
  }
  const auto buffer = static_cast<std::size_t>(fill.firstGather + (whole ? 0 : number));
  resolved.data = store != nullptr ? store->gatherData(plan_, buffer) : data_.gatherData(plan_, buffer);
  resolved.layout = store != nullptr ? store->gatherLayout(plan_, buffer) : data_.gatherLayout(plan_, buffer);
  return resolved;
}

void TaskFrames::resolve(const TaskUnit& unit, std::int32_t number, std::int32_t local, const Patch* patch,
                         TaskAccesses& accesses, DeviceStore* store) {
  for (const UnitAccess& access : graph_.accessesOf(unit)) {
    if (access.reach != Reach::Patch) {
      accesses.add(resolveGather(access, number, patch, store));
      continue;
    }
    const auto own = static_cast<std::size_t>(local);
    const Generation generation = generationOf(access.mode);
    accesses.add({access.mode, access.reach, access.label, access.level,
                  store != nullptr ? store->data(generation, access.label, own)
                                   : data_.data(generation, access.label, own),
                  store != nullptr ? store->layout(access.label, own) : data_.layout(access.label, own),
                  declaredBox(access, *patch), nullptr,
                  (checked_ || store != nullptr) && data_.isShared(access.label, own),
                  checked_ && access.facesOnly});
  }
}

Box TaskFrames::declaredBox(const UnitAccess& access, const Patch& patch) const {
  if (!access.writes() && !checked_) return {};
  const Centering centering = data_.labels().info(access.label).centering;
  if (access.writes() && centering == Centering::Cell) return patch.cells;
  const Level& level = data_.hierarchy().level(access.level);
  return access.writes() ? level.closedBox(patch, centering) : readBox(level, patch, centering, access.halo);
}

PatchFrames& TaskFrames::framesOnPatches(const TaskUnit& unit, const NodeBlock& block, TaskFrame& frame) {
  PatchFrames& made = onPatches_[static_cast<std::size_t>(block.item)];
  const Range own = graphs_.localsOfLevel[static_cast<std::size_t>(unit.level)];
  made.frames.assign(static_cast<std::size_t>(own.size()), frame);
  made.accesses.clear();
  made.ofLevel.clear();
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    TaskAccesses accesses;
    const Patch& patch = data_.hierarchy().patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
    resolve(unit, static_cast<std::int32_t>(local - own.begin), static_cast<std::int32_t>(local), &patch,
            accesses);
    made.accesses.insert(made.accesses.end(), accesses.all().begin(), accesses.all().end());
    TaskFrame& here = made.frames[static_cast<std::size_t>(local - own.begin)];
    here.patch = &patch;
    here.contributions = {};
  }
  const std::size_t each = made.frames.empty() ? 0 : made.accesses.size() / made.frames.size();
  for (std::size_t n = 0; n < made.frames.size(); ++n)
    made.frames[n].accesses = std::span(made.accesses).subspan(n * each, each);
  for (const UnitAccess& access : graph_.accessesOf(unit)) {
    if (access.reach == Reach::WholeLevel) made.ofLevel.push_back(resolveGather(access, 0, nullptr, nullptr));
  }
  frame.accesses = made.ofLevel;
  frame.patches = made.frames.data();
  frame.patchCount = made.frames.size();
  return made;
}

void TaskFrames::addScratch(const TaskUnit& unit, const Patch* patch, std::byte* memory,
                            TaskAccesses& accesses) const {
  const TaskDeclaration& task = graph_.plan->tasks()[unit.task.index()];
  if (task.scratch.empty()) return;
  const Level& level = data_.hierarchy().level(unit.level);
  const Geometry& geometry = data_.hierarchy().geometry();
  forEachScratch(task, data_.labels(), level, *patch, [&](LabelId label, const Box& box, std::int64_t at) {
    TaskAccess access;
    access.mode = AccessMode::Scratch;
    access.label = label;
    access.level = unit.level;
    access.data = memory != nullptr ? memory + at : nullptr;
    access.layout = Layout(box, !geometry.hasHalo(1), !geometry.hasHalo(2));
    access.declared = box;
    accesses.add(access);
  });
}

std::int64_t TaskFrames::scratchBytesOf(const TaskUnit& unit, const Patch* patch) const {
  const TaskDeclaration& task = graph_.plan->tasks()[unit.task.index()];
  if (task.scratch.empty()) return 0;
  return scratchBytes(task, data_.labels(), data_.hierarchy().level(unit.level), *patch);
}

TaskFrame TaskFrames::frameOf(const TaskUnit& unit, const NodeBlock& block, std::int32_t number,
                              const StepInputs& inputs, std::size_t adder) {
  TaskFrame frame = alike_[static_cast<std::size_t>(block.item)];
  if (unit.hasPatch()) {
    frame.patch =
        &data_.hierarchy().patch(data_.ownPatches()[static_cast<std::size_t>(block.firstLocal + number)]);
  }
  const std::int64_t first = unit.contributions.begin + number * unit.contributions.size();
  frame.contributions =
      std::span(contributions_)
          .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(unit.contributions.size()));
  for (PatchContribution& c : frame.contributions) c.sum = sumOf(c.reduction, adder);
  frame.time = inputs.time;
  // Another thread may just be writing it.
  frame.dt = frame.usesDt ? inputs.dt : std::numeric_limits<double>::quiet_NaN();
  frame.step = inputs.step;
  frame.reduced = inputs.reduced;
  return frame;
}

}  // namespace tessera::detail
