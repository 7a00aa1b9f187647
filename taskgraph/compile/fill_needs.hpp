#pragma once

#include <span>
#include <vector>

#include "taskgraph/compile/resolved_plan.hpp"

namespace tessera::detail {

/// One value that has to be brought to its readers, and how wide: what a FillPlan is made from.
struct FillNeed {
  LabelId label = -1;
  LevelId level = 0;  ///< whose values
  std::int32_t version = -1;
  Reach reach = Reach::Patch;
  LevelId readerLevel = 0;
  Halo halo;
  bool coarseFill = false;
  std::int32_t coarseVersion = -1;
  bool ring = false;         ///< as in ResolvedRead
  LabelId coarseLabel = -1;  ///< likewise
};

/// The fills of one plan, each once with the widest request, in an order that every rank derives alike.
std::vector<FillNeed> fillNeeds(const ResolvedPlan& plan);

/// Whether the read is served by this fill.
bool serves(const FillNeed& need, const ResolvedUnit& unit, const ResolvedRead& read);

/// What all plans together need of the memory of a label on a level.
struct LabelNeed {
  Halo halo;  ///< the widest read of any plan
  bool used = false;
  bool hasOld = false;  ///< some plan reads it as Old
};

/// By level, then label id.
std::vector<std::vector<LabelNeed>> labelNeeds(std::span<const ResolvedPlan> plans, LabelId labelCount,
                                               int levels);

/// Notes halos that the geometry cannot serve: wider than the level, or beyond a side without a condition.
void checkHalos(const ResolvedPlan& plan, const CompileInput& input, Faults& faults);

/// Notes reads of Old that no plan provides. `plans[0]` runs first and has no Old.
void checkOldReads(std::span<const ResolvedPlan> plans, const LabelTable& labels, Faults& faults);

}  // namespace tessera::detail
