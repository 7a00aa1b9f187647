#include "tools/simulation/program/subcycled_step.hpp"

#include <algorithm>

#include "components/subcycle/between_kernels.hpp"
#include "components/subcycle/level_plans.hpp"
#include "core/text/error.hpp"
#include "taskgraph/task_place.hpp"

namespace tessera {
namespace {

bool readsFiner(const TaskDeclaration& task) {
  return std::any_of(task.reads.begin(), task.reads.end(),
                     [](const ReadDeclaration& read) { return read.reach == Reach::Finer; });
}

bool isIn(const TaskDeclaration& task, const std::string& plan) {
  return std::find(task.plans.begin(), task.plans.end(), plan) != task.plans.end();
}

/// Whether it goes with its own level.
bool isOfLevel(const TaskDeclaration& task) {
  return task.plans.empty() && task.contributions.empty() && !readsFiner(task);
}

TaskDeclaration onlyOn(TaskDeclaration task, LevelId level) {
  task.levels = onlyLevel(level);
  return task;
}

/// All levels from `first` on.
LevelSelection levelsFrom(LevelId first, LevelId finest) {
  std::uint64_t some = 0;
  for (LevelId level = first; level <= finest; ++level) some |= std::uint64_t{1} << level;
  return someLevels(some);
}

std::string fault(const TaskDeclaration& task, const std::string& what, const std::string& fix) {
  return Message(what)
      .line("task  ", task.name, " at ", placeOf(task))
      .line("fix   ", fix, "; or remove amr.subcycle")
      .text();
}

}  // namespace

SubcycledStep::SubcycledStep(const StepPlan& declared, std::vector<std::int64_t> ratios, LabelTable& labels)
    : ratios_(std::move(ratios)), labels_(labels), number_(labels.reduction("amr.substep")) {
  findChanged(declared);
  for (const TaskDeclaration& task : declared.tasks()) expectPlace(task);
  for (LevelId level = 0; level <= finest(); ++level) makeLevelPlan(declared, level);
  for (LevelId level = 0; level < finest(); ++level) makeSyncPlan(declared, level);
  makeEndPlan(declared);
  if (!faults_.empty()) throw PlanError(faults_);
  advance(0, 0, 1, 0);
  if (hasPlan(endPlanName())) runs_.push_back({endPlanName()});
  runs_.back().promotes = LevelSelection{};
}

void SubcycledStep::findChanged(const StepPlan& declared) {
  for (const TaskDeclaration& task : declared.tasks())
    for (const WriteDeclaration& write : task.writes) changed_.insert(write.label);
}

void SubcycledStep::expectPlace(const TaskDeclaration& task) {
  if (!task.contributions.empty() && !task.writes.empty()) {
    faults_.push_back(fault(task, "a task writes and contributes, and levels take steps of their own",
                            "contribute in a task that reads what this one writes"));
  }
  if (task.oncePerRank && task.contributions.empty())
    faults_.push_back(
        fault(task, "a task runs once a rank, and levels take steps of their own", "let it run on patches"));
}

void SubcycledStep::makeLevelPlan(const StepPlan& declared, LevelId level) {
  StepPlan tasks(levelPlanName(level));
  StepPlan plan(levelPlanName(level));
  for (const TaskDeclaration& task : declared.tasks()) {
    if (isIn(task, plan.name())) tasks.add(task);
    if (!isOfLevel(task) || !task.levels.contains(level, finest())) continue;
    tasks.add(onlyOn(task, level));
    for (const ReadDeclaration& read : task.reads)
      if (level > 0 && changed_.count(read.label) > 0) standIn(plan, level, task, read);
  }
  for (const TaskDeclaration& task : tasks.tasks()) plan.add(task);
  keep(std::move(plan));
}

void SubcycledStep::standIn(StepPlan& plan, LevelId level, const TaskDeclaration& task,
                            const ReadDeclaration& read) {
  if (read.reach != Reach::Patch || read.halo.isZero()) return;
  std::vector<StandIn>& known = standIns_[plan.name()];
  const auto same = [&](const StandIn& one) {
    return one.label == read.label && one.generation == read.generation;
  };
  if (std::any_of(known.begin(), known.end(), same)) return;
  const LabelInfo info = labels_.info(read.label);
  const bool isOld = read.generation == Generation::Old;
  const bool isReal = info.centering == Centering::Cell && info.type.scalar == Scalar::Float64 &&
                      (info.components.empty() ? info.type.components == 1 : true);
  if (!isReal || isOld == (info.stageOf >= 0)) {
    faults_.push_back(
        fault(task, "a halo beyond a level cannot be interpolated in time",
              "let it read Old of a variable or New of a stage of one (LabelTable::approximates), of numbers "
              "of double precision on cells: " +
                  info.name + " is neither"));
    return;
  }
  const LabelId variable = isOld ? read.label : info.stageOf;
  const double part = isOld ? 0.0 : info.stagePart;
  known.push_back({read.label, read.generation, makeStandIn(plan, level, info, variable, part)});
}

LabelId SubcycledStep::makeStandIn(StepPlan& plan, LevelId level, const LabelInfo& info, LabelId variable,
                                   double part) {
  const std::string name = info.name + ".between";
  const auto declare = [&](auto u, auto to) {
    labels_.approximates(to, u, part);
    for (int side = 0; side < kSides; ++side) {
      const auto& coded = info.coded[static_cast<std::size_t>(side)];
      if (coded) labels_.setBoundary(to, side, *coded);
    }
    plan.task("Between::" + info.name)
        .on(level - 1)
        .reads(Old, u)
        .reads(New, u)
        .reads(number_)
        .writes(to)
        .withoutDt()
        .runs(betweenOldAndNew(u, to, number_, part));
    return to.id;
  };
  if (info.components.empty()) {
    const auto to = labels_.variable<double, Cell>(name, info.unit);
    labels_.setBoundary(to, info.boundary);
    return declare(Label<double, Cell>{variable}, to);
  }
  const auto to = labels_.components<double, Cell>(name, info.components);
  labels_.setBoundary(to, info.boundary);
  if (!info.ofComponents.empty()) labels_.setBoundary(to, info.ofComponents);
  return declare(Label<Components<double>, Cell>{variable}, to);
}

void SubcycledStep::makeSyncPlan(const StepPlan& declared, LevelId level) {
  StepPlan plan(syncPlanName(level));
  for (const TaskDeclaration& task : declared.tasks()) {
    const bool syncs = task.plans.empty() && task.contributions.empty() && readsFiner(task);
    if (syncs && task.levels.contains(level, finest())) plan.add(onlyOn(task, level));
  }
  keep(std::move(plan));
}

void SubcycledStep::makeEndPlan(const StepPlan& declared) {
  StepPlan plan(endPlanName());
  for (const TaskDeclaration& task : declared.tasks())
    if (task.plans.empty() && !task.contributions.empty()) plan.add(task);
  keep(std::move(plan));
}

void SubcycledStep::keep(StepPlan plan) {
  if (!plan.tasks().empty()) plans_.push_back(std::move(plan));
}

bool SubcycledStep::hasPlan(const std::string& name) const {
  return std::any_of(plans_.begin(), plans_.end(), [&](const StepPlan& plan) { return plan.name() == name; });
}

/// The step of a level that begins at `begin` of `parts` of the whole one, and those of all finer ones.
void SubcycledStep::advance(LevelId level, std::int64_t begin, std::int64_t parts, std::int64_t number) {
  const StepPart part{begin, 1, parts};
  if (hasPlan(levelPlanName(level)))
    runs_.push_back({levelPlanName(level), part, {}, {{number_.id, static_cast<double>(number)}}});
  if (level == finest()) return;
  const std::int64_t ratio = ratios_[static_cast<std::size_t>(level)];
  for (std::int64_t n = 0; n < ratio; ++n) {
    advance(level + 1, begin * ratio + n, parts * ratio, n);
    if (n + 1 < ratio && !runs_.empty()) runs_.back().promotes = levelsFrom(level + 1, finest());
  }
  if (hasPlan(syncPlanName(level))) runs_.push_back({syncPlanName(level), part});
}

StepProgram SubcycledStep::program(const std::string& name) const {
  StepProgram program(name);
  for (const RunItem& item : runs_) {
    RunBuilder run = program.run(item.plan);
    run.over(item.part);
    if (item.promotes) run.promotes(*item.promotes);
    for (const auto& [label, value] : item.numbers) run.gives(ReductionLabel{label}, value);
  }
  return program;
}

std::vector<StandIn> SubcycledStep::standIns(const std::string& plan) const {
  const auto found = standIns_.find(plan);
  return found == standIns_.end() ? std::vector<StandIn>{} : found->second;
}

std::vector<double> SubcycledStep::steps() const {
  std::vector<double> steps{1.0};
  for (const std::int64_t ratio : ratios_) steps.push_back(steps.back() * static_cast<double>(ratio));
  return steps;
}

}  // namespace tessera
