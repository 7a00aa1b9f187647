#include "tools/simulation/program/step_parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "taskgraph/graph_compiler.hpp"

namespace tessera {
namespace {

/// Plans of which each compile makes a graph, and all of which share memory.
constexpr std::size_t kMostSets = 16;
/// Parts whose cadences meet after more steps than this may come together in any way.
constexpr std::int64_t kLongestPeriod = 100'000;

bool contains(const PartSet& set, const std::string& name) {
  return std::binary_search(set.begin(), set.end(), name);
}

/// Whether a task takes part in some plan of the list.
bool isAmong(const TaskDeclaration& task, const PartSet& parts) {
  return std::any_of(task.plans.begin(), task.plans.end(),
                     [&](const std::string& plan) { return contains(parts, plan); });
}

/// The steps after which the cadences by steps repeat; -1 where that takes too long.
std::int64_t periodOf(const std::vector<OptionalPart>& parts) {
  std::int64_t period = 1;
  for (const OptionalPart& part : parts) {
    if (part.every.steps < 1) continue;
    if (part.every.steps > kLongestPeriod) return -1;
    period = std::lcm(period, part.every.steps);
    if (period > kLongestPeriod) return -1;
  }
  return period;
}

/// All sets of these names, with each set of `known` joined to each of them.
std::set<PartSet> joined(const std::set<PartSet>& known, const std::vector<std::string>& names) {
  std::set<PartSet> all = known;
  for (const std::string& name : names) {
    std::set<PartSet> more = all;
    for (PartSet set : all) {
      set.insert(std::upper_bound(set.begin(), set.end(), name), name);
      more.insert(std::move(set));
    }
    all = std::move(more);
    if (all.size() > 4 * kMostSets) break;  // too many in any case
  }
  return all;
}

}  // namespace

StepParts::StepParts(std::span<const std::unique_ptr<Component>> components) {
  std::vector<std::string> faults;
  for (const auto& component : components) {
    for (const OptionalPart& part : component->stepParts()) add(part, component->name(), faults);
  }
  std::sort(parts_.begin(), parts_.end(),
            [](const OptionalPart& a, const OptionalPart& b) { return a.name < b.name; });
  if (faults.empty()) findSets(faults);
  if (!faults.empty()) throw PlanError(std::move(faults));
}

void StepParts::add(const OptionalPart& part, const std::string& component,
                    std::vector<std::string>& faults) {
  const auto fault = [&](const char* what, const char* fix) {
    faults.push_back(Message(what)
                         .line("part       ", part.name)
                         .line("component  ", component)
                         .line("every      ", part.every.steps, " steps, or ", part.every.time, " of time")
                         .line("fix        ", fix)
                         .text());
  };
  const bool byTime = part.every.steps == 0 && part.every.time > 0.0 && std::isfinite(part.every.time);
  if (part.every.steps < 0 || (part.every.steps == 0 && !byTime))
    return fault("a part of a step is never due", "give everySteps(n) from 1 on, or everyTime(t) above 0");
  if (part.name.empty() || part.name == "step" || part.name == "initial" || part.name == "diagnostics")
    return fault("a part of a step has the name of a plan, or none", "give it a name of its own");
  const auto known =
      std::find_if(parts_.begin(), parts_.end(), [&](const OptionalPart& p) { return p.name == part.name; });
  if (known == parts_.end()) {
    parts_.push_back(part);
  } else if (known->every != part.every) {
    fault("two components give a part of a step different cadences", "let both give the same");
  }
}

void StepParts::findSets(std::vector<std::string>& faults) {
  std::vector<std::string> bySteps;
  std::vector<std::string> byTime;
  for (const OptionalPart& part : parts_) (part.every.steps > 0 ? bySteps : byTime).push_back(part.name);
  std::set<PartSet> sets;
  const std::int64_t period = periodOf(parts_);
  if (period < 0) {
    sets.insert(PartSet{});
    sets = joined(sets, bySteps);
  }
  for (std::int64_t step = 0; step < period; ++step) {
    PartSet set;
    for (const OptionalPart& part : parts_)
      if (part.every.steps > 0 && step % part.every.steps == 0) set.push_back(part.name);
    sets.insert(set);
  }
  sets = joined(sets, byTime);
  sets.erase(PartSet{});
  if (sets.size() > kMostSets) {
    std::string names;
    for (const OptionalPart& part : parts_) names += (names.empty() ? "" : ", ") + part.name;
    faults.push_back(Message("too many sets of optional parts of a step could come together")
                         .line("parts  ", names)
                         .line("sets   ", sets.size(), " or more, at most ", kMostSets)
                         .line("fix    give some of them the same cadence, as one part")
                         .text());
  }
  sets_.assign(sets.begin(), sets.end());
}

bool StepParts::isPart(const std::string& name) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const OptionalPart& p) { return p.name == name; });
}

PartSet StepParts::due(const StepAt& at) const {
  PartSet due;
  for (const OptionalPart& part : parts_)
    if (part.every.isDue(at)) due.push_back(part.name);
  return due;
}

PartSet StepParts::always() const {
  PartSet always;
  for (const OptionalPart& part : parts_)
    if (part.every.steps == 1) always.push_back(part.name);
  return always;
}

PartSet StepParts::without(const PartSet& set, const PartSet& left) {
  PartSet rest;
  std::set_difference(set.begin(), set.end(), left.begin(), left.end(), std::back_inserter(rest));
  return rest;
}

std::string StepParts::stepName(const std::string& step, const PartSet& parts) {
  std::string name = step;
  for (const std::string& part : parts) name += (name.empty() ? "" : "+") + part;
  return name;
}

StepPlan StepParts::withUsual(const StepPlan& declared, const std::string& usual, const PartSet& parts,
                              const std::string& name) {
  StepPlan plan(name);
  PartSet names = parts;
  names.insert(std::upper_bound(names.begin(), names.end(), usual), usual);
  for (const TaskDeclaration& task : declared.tasks())
    if (task.plans.empty() || isAmong(task, names)) plan.add(task);
  return plan;
}

StepPlan StepParts::alone(const StepPlan& declared, const PartSet& parts) {
  StepPlan plan(stepName("", parts));
  for (const TaskDeclaration& task : declared.tasks())
    if (isAmong(task, parts)) plan.add(task);
  return plan;
}

}  // namespace tessera
