#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "components/step_program.hpp"
#include "grid/label.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// What step programs and the plans that they run are about.
struct ProgramSetting {
  std::span<const StepPlan> plans;
  const LabelTable& labels;
  std::span<const LabelId> persistent;  ///< the labels that some plan reads as Old
  int levels = 1;
  std::int64_t retries = 0;  ///< how often a step may be taken again
};

/// Goes through step programs item by item, from their declarations alone: what each plan finds of the items
/// before it, and what is wrong.
class ProgramCheck {
 public:
  explicit ProgramCheck(const ProgramSetting& setting);

  void add(const StepProgram& program);

  /// Of each plan, for `CompileInput::items`. Throws PlanError with all faults of all programs: a plan that
  /// is not there, a New value or a reduction that no earlier item leaves, a label that is never promoted, a
  /// refusal of a step of which a part has become Old.
  std::vector<PlanItem> items() const;

 private:
  /// What the items so far have left.
  struct State {
    std::map<LevelLabel, std::set<std::string>> left;  ///< New values, and which tasks and calls left them
    std::set<LabelId> reduced;
    bool promotes = false;
  };

  void walk(const std::vector<ProgramItem>& items, State& state);
  void run(const RunItem& item, State& state);
  void call(const CallItem& item, State& state);
  void repeat(const RepeatItem& item, State& state);
  void expectWhole(const std::string& cause, const State& state);
  void expectPromoted(const State& state);
  /// Whether some plan reads it as Old.
  bool persists(LabelId label) const;
  void note(std::size_t plan, const State& state);
  void checkTask(const StepPlan& plan, const TaskDeclaration& task, const State& state);
  void checkRead(const StepPlan& plan, const TaskDeclaration& task, LevelId level, const LevelLabel& what,
                 const State& state);
  std::vector<LevelId> levelsOf(const TaskDeclaration& task) const;
  bool writesAfresh(const StepPlan& plan, const LevelLabel& what) const;
  /// Who leaves the last version of a label in a plan, as far as the declarations tell.
  std::set<std::string> leavesOf(const StepPlan& plan, const LevelLabel& what) const;
  Message head(const char* what) const;
  void fault(const Message& message) { faults_.insert(message.text()); }
  std::string name(LabelId label) const { return setting_.labels.info(label).name; }

  const ProgramSetting setting_;
  std::vector<std::map<LevelLabel, std::set<std::string>>> carried_;  ///< by plan
  std::vector<std::set<LabelId>> reduced_;
  std::vector<bool> endsStep_;
  std::set<std::string> faults_;
  const StepProgram* program_ = nullptr;
};

}  // namespace tessera
