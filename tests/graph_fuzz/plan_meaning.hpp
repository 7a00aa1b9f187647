#pragma once

#include <string>
#include <vector>

#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// What the declarations of one plan mean: which version of a label each of them is about.
class PlanMeaning {
 public:
  PlanMeaning(const FuzzCase& c, const PlanSpec& plan) : case_(&c), plan_(&plan) {}

  const PlanSpec& plan() const { return *plan_; }
  /// The levels on which a task runs; -1 for one that runs once a rank.
  std::vector<LevelId> levelsOf(const TaskSpec& task) const;
  /// The versions of a label on a level: tasks in the order in which they change it.
  std::vector<const TaskSpec*> chain(int label, LevelId level) const;
  /// Of a read by a task on `level`; -1 is Old.
  std::int32_t versionOf(const TaskSpec& task, const ReadSpec& read, LevelId level) const;
  /// Of the coarser level, for halo values outside the level: from the same task, else the last; -1 is Old.
  std::int32_t versionBelow(int label, LevelId level, std::int32_t version) const;

  /// Whether the compiler is right to refuse the plan, as far as this is known of the headline.
  bool explains(const std::string& headline) const;

 private:
  bool readsWhatNobodyComputes() const;
  bool hasCycle() const;
  bool partlyCovered(LevelId level) const;

  const FuzzCase* case_;
  const PlanSpec* plan_;
};

}  // namespace tessera::fuzz
