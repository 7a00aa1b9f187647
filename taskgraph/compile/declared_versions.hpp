#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "grid/hierarchy.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera::detail {

/// Which value each declaration of a plan means, told from the declarations alone: version 0 is what `writes`
/// leaves or, where no task writes, an earlier item of the step program; each `modifies` adds one, -1 is Old.
/// For the race check, which may not ask the compiler; a plan that compiled is free of faults, so none are
/// looked for.
class DeclaredVersions {
 public:
  /// `carried`: what earlier items may have left. All four outlive the object.
  DeclaredVersions(const StepPlan& plan, std::span<const CarriedValue> carried,
                   std::span<const StandIn> standIns, const Hierarchy& hierarchy);

  /// The level whose values a read of a task on `level` (-1: once a rank) means.
  static LevelId levelRead(const ReadDeclaration& read, LevelId level);
  /// The version that it means.
  std::int32_t ofRead(TaskId task, LevelId level, const ReadDeclaration& read) const;
  /// The version that the task leaves; -1 where it does not write the label on that level.
  std::int32_t ofWrite(TaskId task, LevelId level, LabelId label) const;
  /// What fills halo cells outside a level: the last value of what stands in for the label on the coarser
  /// level; else the version of the label there that the task which left `version` left too, else the last.
  struct Below {
    LabelId label = -1;
    std::int32_t version = -1;
  };
  Below ofCoarser(LabelId label, LevelId level, std::int32_t version) const;

 private:
  /// Names of what may have left version `version` of a chain.
  std::vector<std::string> leftBy(LabelId label, LevelId level, std::size_t version) const;
  /// Tasks in the order in which they change the label, first none where that is carried.
  const std::vector<TaskId>& chain(LabelId label, LevelId level) const;
  void makeChain(LabelId label, LevelId level);
  const CarriedValue* carried(LabelId label, LevelId level) const;

  const StepPlan& plan_;
  std::span<const CarriedValue> carried_;
  std::span<const StandIn> standIns_;
  LevelId finest_;
  std::map<std::pair<LabelId, LevelId>, std::vector<TaskId>> chains_;
};

}  // namespace tessera::detail
