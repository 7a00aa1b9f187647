#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/step_program.hpp"
#include "grid/label.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// A step in which each finer level takes `ratio` steps while the next coarser one takes one, made from the
/// tasks of a step in which all levels take the same.
///
///   level0; r times (level1; r times (level2 ...); sync1); sync0; end
///
/// A task goes to the plan of its level; where it reads `fromFiner()`, to the one that synchronises its
/// level; where it contributes to reductions, to the last one, on all levels; where it says `.in(plan)`, to
/// that one. A finer level promotes after each of its steps but the last one before its coarser level is
/// through. Halos beyond a level are taken from a variable that stands in on the coarser level: what lies, at
/// that moment, between Old and New of it (components/subcycle). Stages hold when they say that they do
/// (`LabelTable::approximates`).
class SubcycledStep {
 public:
  /// `ratios`: of each level to the next finer one, at least one. Adds labels. Throws PlanError with all
  /// tasks that cannot take part.
  SubcycledStep(const StepPlan& declared, std::vector<std::int64_t> ratios, LabelTable& labels);

  /// Those with tasks.
  const std::vector<StepPlan>& plans() const { return plans_; }
  StepProgram program(const std::string& name) const;
  /// Of a plan, by name.
  std::vector<StandIn> standIns(const std::string& plan) const;
  /// By level: how many steps it takes in one of level 0. That is what its stable step counts.
  std::vector<double> steps() const;

 private:
  LevelId finest() const { return static_cast<LevelId>(ratios_.size()); }
  void findChanged(const StepPlan& declared);
  void makeLevelPlan(const StepPlan& declared, LevelId level);
  void makeSyncPlan(const StepPlan& declared, LevelId level);
  void makeEndPlan(const StepPlan& declared);
  void expectPlace(const TaskDeclaration& task);
  void standIn(StepPlan& plan, LevelId level, const TaskDeclaration& task, const ReadDeclaration& read);
  LabelId makeStandIn(StepPlan& plan, LevelId level, const LabelInfo& info, LabelId variable, double part);
  void advance(LevelId level, std::int64_t begin, std::int64_t parts, std::int64_t number);
  bool hasPlan(const std::string& name) const;
  void keep(StepPlan plan);

  const std::vector<std::int64_t> ratios_;
  LabelTable& labels_;
  ReductionLabel number_;  ///< of a step among those in one of the next coarser level
  std::set<LabelId> changed_;
  std::vector<StepPlan> plans_;
  std::map<std::string, std::vector<StandIn>> standIns_;  ///< by plan
  std::vector<RunItem> runs_;
  std::vector<std::string> faults_;
};

}  // namespace tessera
