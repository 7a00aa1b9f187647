#pragma once

#include <map>
#include <vector>

#include "taskgraph/detail/resolved_plan.hpp"

namespace tessera::detail {

/// One value whose halo has to be filled in a plan, and how wide: version -1 is Old.
struct HaloNeed {
  LabelId label = -1;
  std::int32_t version = -1;
  Halo halo;
};

/// The halos that the tasks of one plan read, each value once with the widest request, sorted by label and version.
std::vector<HaloNeed> haloNeeds(const ResolvedPlan& plan);

/// What all plans together need of each label's memory.
struct LabelNeed {
  Halo halo;             ///< the widest read of any plan
  bool used = false;
  bool hasOld = false;   ///< some plan reads it as Old
};

/// By label id.
std::vector<LabelNeed> labelNeeds(std::span<const ResolvedPlan> plans, LabelId labelCount);

/// Notes halos that the geometry cannot serve: wider than the level, or beyond a side without a condition.
void checkHalos(const ResolvedPlan& plan, const CompileInput& input, Faults& faults);

/// Notes reads of Old that no plan provides. `plans[0]` runs first and has no Old.
void checkOldReads(std::span<const ResolvedPlan> plans, const LabelTable& labels, Faults& faults);

}  // namespace tessera::detail
