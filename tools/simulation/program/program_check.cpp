#include "tools/simulation/program/program_check.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "taskgraph/task_place.hpp"

namespace tessera {

ProgramCheck::ProgramCheck(const ProgramSetting& setting)
    : setting_(setting),
      carried_(setting.plans.size()),
      reduced_(setting.plans.size()),
      endsStep_(setting.plans.size(), true) {}

void ProgramCheck::add(const StepProgram& program) {
  program_ = &program;
  if (program.plans().empty()) {
    fault(head("a step program runs no plan").line("fix      ", "add .run(\"step\") or another plan"));
  }
  State state;
  walk(program.items(), state);
  expectPromoted(state);
}

std::vector<PlanItem> ProgramCheck::items() const {
  if (!faults_.empty()) throw PlanError({faults_.begin(), faults_.end()});
  std::vector<PlanItem> items(setting_.plans.size());
  for (std::size_t p = 0; p < items.size(); ++p) {
    for (const auto& [where, names] : carried_[p])
      items[p].carried.push_back({where, {names.begin(), names.end()}});
    items[p].reduced.assign(reduced_[p].begin(), reduced_[p].end());
    items[p].endsStep = endsStep_[p];
  }
  return items;
}

void ProgramCheck::walk(const std::vector<ProgramItem>& items, State& state) {
  for (const ProgramItem& item : items) {
    if (const auto* runs = std::get_if<RunItem>(&item.what)) run(*runs, state);
    if (const auto* calls = std::get_if<CallItem>(&item.what)) call(*calls, state);
    if (const auto* solves = std::get_if<SolveItem>(&item.what)) call(solves->access(), state);
    if (const auto* repeats = std::get_if<RepeatItem>(&item.what)) repeat(*repeats, state);
    if (const auto* requires_ = std::get_if<RequireItem>(&item.what)) expectWhole(requires_->cause, state);
  }
}

void ProgramCheck::run(const RunItem& item, State& state) {
  const auto found = std::find_if(setting_.plans.begin(), setting_.plans.end(),
                                  [&](const StepPlan& plan) { return plan.name() == item.plan; });
  const auto number = static_cast<std::size_t>(found - setting_.plans.begin());
  if (found == setting_.plans.end() || number == 0 || item.plan == "diagnostics") {
    return fault(head("a step program runs a plan that is not a step plan")
                     .line("runs     ", item.plan)
                     .line("fix      ", "let tasks say .in(\"", item.plan, "\"), or name another plan"));
  }
  if (found->tasks().empty()) {
    return fault(head("a step program runs a plan that no task takes part in")
                     .line("runs     ", item.plan)
                     .line("fix      ", "let tasks say .in(\"", item.plan, "\"), or name another plan"));
  }
  for (const auto& [label, value] : item.numbers) state.reduced.insert(label);
  note(number, state);
  for (const TaskDeclaration& task : found->tasks()) checkTask(*found, task, state);
  for (const TaskDeclaration& task : found->tasks()) {
    for (const ContributionDeclaration& c : task.contributions) state.reduced.insert(c.reduction);
    for (const WriteDeclaration& write : task.writes) {
      for (const LevelId level : levelsOf(task)) {
        const LevelLabel what{write.label, level};
        state.left[what] = leavesOf(*found, what);
      }
    }
  }
  if (!item.promotes) return;
  state.promotes = true;
  std::erase_if(state.left, [&](const auto& value) {
    return persists(value.first.label) && item.promotes->contains(value.first.level, setting_.levels - 1);
  });
}

void ProgramCheck::note(std::size_t plan, const State& state) {
  for (const auto& [where, names] : state.left) carried_[plan][where].insert(names.begin(), names.end());
  reduced_[plan].insert(state.reduced.begin(), state.reduced.end());
  if (!program_->isOnePlan()) endsStep_[plan] = false;
}

void ProgramCheck::checkTask(const StepPlan& plan, const TaskDeclaration& task, const State& state) {
  for (const LabelId reduction : task.readsReduced) {
    if (state.reduced.count(reduction) > 0) continue;
    const std::string& name = setting_.labels.reductionName(reduction);
    fault(head("a task reads a reduction to which no earlier item contributes")
              .line("plan     ", plan.name())
              .line("task     ", task.name, " at ", placeOf(task))
              .line("reads    ", name)
              .line("fix      ", "run a plan with .contributes(", name, ", ...) before this one"));
  }
  for (const LevelId level : levelsOf(task)) {
    for (const ReadDeclaration& read : task.reads) {
      if (read.generation == Generation::Old) continue;
      const LevelId source = read.reach == Reach::Coarser ? level - 1
                             : read.reach == Reach::Finer ? level + 1
                             : read.reach == Reach::WholeLevel
                                 ? (read.level < 0 ? std::max(level, 0) : read.level)
                                 : level;
      checkRead(plan, task, level, {read.label, source}, state);
    }
    for (const WriteDeclaration& write : task.writes) {
      if (write.modifies) checkRead(plan, task, level, {write.label, level}, state);
    }
  }
}

void ProgramCheck::checkRead(const StepPlan& plan, const TaskDeclaration& task, LevelId level,
                             const LevelLabel& what, const State& state) {
  if (what.level < 0 || what.level >= setting_.levels) return;  // the compiler says so
  if (writesAfresh(plan, what) || state.left.count(what) > 0) return;
  const std::string on = setting_.levels > 1 ? " on level " + std::to_string(what.level) : "";
  fault(head("a plan of a step program needs a New value that no earlier item leaves")
            .line("plan     ", plan.name())
            .line("task     ", task.name, setting_.levels > 1 ? " on level " + std::to_string(level) : "",
                  " at ", placeOf(task))
            .line("needs    ", "New ", name(what.label), on)
            .line("fix      ", "let it read Old ", name(what.label), ", or run a plan that writes ",
                  name(what.label), " before it"));
}

void ProgramCheck::call(const CallItem& item, State& state) {
  const auto expectLeft = [&](LabelId label) {
    const auto isLeft = [&](const auto& value) { return value.first.label == label; };
    if (std::any_of(state.left.begin(), state.left.end(), isLeft)) return;
    fault(head("a call of a step program needs a New value that no earlier item leaves")
              .line("call     ", item.name)
              .line("needs    ", "New ", name(label))
              .line("fix      ", "run a plan that writes ", name(label), " before it, or read Old"));
  };
  for (const auto& [generation, label] : item.reads) {
    if (generation == Generation::New) expectLeft(label);
  }
  for (const LabelId label : item.modifies) expectLeft(label);
  for (const auto* list : {&item.writes, &item.modifies}) {
    for (const LabelId label : *list) {
      for (LevelId level = 0; level < setting_.levels; ++level) state.left[{label, level}] = {item.name};
    }
  }
  state.reduced.insert(item.contributes.begin(), item.contributes.end());
}

/// From the second pass on the body finds what it has left itself.
void ProgramCheck::repeat(const RepeatItem& item, State& state) {
  for (int pass = 0; pass < (item.most > 1 ? 2 : 1); ++pass) walk(item.items, state);
  if (!item.cause.empty()) expectWhole(item.cause, state);
}

void ProgramCheck::expectWhole(const std::string& cause, const State& state) {
  if (!state.promotes || setting_.retries == 0) return;
  fault(head("a step cannot be taken again when a part of it has become Old")
            .line("refused  ", "where ", cause, ", after an item that promotes")
            .line("fix      ", "remove time.retries, or require it before the first item that promotes"));
}

bool ProgramCheck::persists(LabelId label) const {
  const auto& kept = setting_.persistent;
  return std::find(kept.begin(), kept.end(), label) != kept.end();
}

void ProgramCheck::expectPromoted(const State& state) {
  if (!state.promotes) return;
  std::set<LabelId> said;
  for (const auto& [where, names] : state.left) {
    if (!persists(where.label) || !said.insert(where.label).second) continue;
    fault(head("a step program never promotes a label that is read as Old")
              .line("label    ", name(where.label),
                    setting_.levels > 1 ? " on level " + std::to_string(where.level) : "")
              .line("written  ", "by ", *names.begin())
              .line("fix      ", "let its last item say .promotes()"));
  }
}

std::vector<LevelId> ProgramCheck::levelsOf(const TaskDeclaration& task) const {
  if (task.oncePerRank) return {-1};
  std::vector<LevelId> levels;
  for (LevelId level = 0; level < setting_.levels; ++level) {
    if (task.levels.contains(level, setting_.levels - 1)) levels.push_back(level);
  }
  return levels;
}

bool ProgramCheck::writesAfresh(const StepPlan& plan, const LevelLabel& what) const {
  for (const TaskDeclaration& task : plan.tasks()) {
    if (task.oncePerRank || !task.levels.contains(what.level, setting_.levels - 1)) continue;
    for (const WriteDeclaration& write : task.writes) {
      if (write.label == what.label && !write.modifies) return true;
    }
  }
  return false;
}

std::set<std::string> ProgramCheck::leavesOf(const StepPlan& plan, const LevelLabel& what) const {
  std::set<std::string> writers;
  std::set<std::string> modifiers;
  std::set<std::string> changed;
  for (const TaskDeclaration& task : plan.tasks()) {
    if (task.oncePerRank || !task.levels.contains(what.level, setting_.levels - 1)) continue;
    for (const WriteDeclaration& write : task.writes) {
      if (write.label != what.label) continue;
      (write.modifies ? modifiers : writers).insert(task.name);
      changed.insert(write.from);
    }
  }
  if (modifiers.empty()) return writers;
  std::erase_if(modifiers, [&](const std::string& name) { return changed.count(name) > 0; });
  return modifiers;
}

Message ProgramCheck::head(const char* what) const {
  Message message(what);
  message.line("program  ", program_->name());
  return message;
}

}  // namespace tessera
