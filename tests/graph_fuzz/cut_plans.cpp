#include "tests/graph_fuzz/cut_plans.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace tessera::fuzz {
namespace {

/// Positions between 1 and units - 1 at which to cut, each once, ascending; then the end. What lets go of the
/// values of a task stays with it.
std::vector<std::int64_t> drawLines(const CompiledGraph& graph, int lines, std::mt19937_64& random) {
  const std::int64_t units = std::ssize(graph.units);
  std::set<std::int64_t> at;
  for (int n = 0; n < lines && units > 1; ++n) {
    const auto line = 1 + random() % static_cast<std::uint64_t>(units - 1);
    const bool between = graph.units[line].part == UnitPart::Release;
    at.insert(static_cast<std::int64_t>(line) + (between ? 1 : 0));
  }
  at.insert(units);
  return {at.begin(), at.end()};
}

}  // namespace

CutPlans::CutPlans(const CompiledGraphs& uncut, int lines, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t p = 0; p < uncut.plans.size(); ++p) {
    const CompiledGraph& graph = uncut.plans[p];
    itemsOf_.emplace_back();
    const std::vector<std::int64_t> cuts = drawLines(graph, p == 0 ? 0 : lines, random);
    Carried carried;
    std::int64_t first = 0;
    for (const std::int64_t end : cuts) {
      PlanItem item;
      item.endsStep = cuts.size() == 1;
      for (const auto& [where, task] : carried) item.carried.push_back({where, {task}});
      itemsOf_.back().push_back(plans_.size());
      addItem(graph, {first, end}, std::move(item));
      noteLeft(graph, {first, end}, carried);
      first = end;
    }
  }
}

void CutPlans::addItem(const CompiledGraph& graph, Range units, PlanItem item) {
  StepPlan plan(graph.plan->name() + " from line " + std::to_string(units.begin));
  std::map<TaskId, std::uint64_t> levelsOf;  // of tasks, in the order of declaration
  for (std::int64_t u = units.begin; u < units.end; ++u) {
    const TaskUnit& unit = graph.units[static_cast<std::size_t>(u)];
    levelsOf[unit.task] |= unit.level < 0 ? 0 : std::uint64_t{1} << unit.level;
  }
  for (const auto& [number, levels] : levelsOf) {
    TaskDeclaration task = graph.plan->task(number);
    if (!task.oncePerRank) task.levels = someLevels(levels);
    plan.add(task);
  }
  plans_.push_back(std::move(plan));
  items_.push_back(std::move(item));
}

void CutPlans::noteLeft(const CompiledGraph& graph, Range units, Carried& carried) {
  for (std::int64_t u = units.begin; u < units.end; ++u) {
    const TaskUnit& unit = graph.units[static_cast<std::size_t>(u)];
    for (const WriteDeclaration& write : graph.declarationOf(unit).writes)
      carried[{write.label, unit.level}] = graph.declarationOf(unit).name;
  }
}

std::vector<const StepPlan*> CutPlans::plans() const {
  std::vector<const StepPlan*> plans;
  for (const StepPlan& plan : plans_) plans.push_back(&plan);
  return plans;
}

std::int64_t carriedCount(const CompiledGraphs& graphs) {
  std::int64_t count = 0;
  for (const CompiledGraph& graph : graphs.plans) count += std::ssize(graph.carried);
  return count;
}

}  // namespace tessera::fuzz
