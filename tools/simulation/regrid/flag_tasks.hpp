#pragma once

#include <memory>

#include "taskgraph/step_plan.hpp"
#include "tools/simulation/analysis/analysis_field.hpp"
#include "tools/simulation/deck/amr_table.hpp"
#include "tools/simulation/regrid/flagged_blocks.hpp"

namespace tessera {

/// Declares the task that flags the cells of a criterion, by their Old values, and contributes their number
/// to a sum. `field` is its variable, where it has one.
void declareFlags(StepPlan& plan, const std::string& name, const FlagCriterion& criterion,
                  const AnalysisField& field, ReductionLabel count, std::shared_ptr<FlaggedBlocks> found);

}  // namespace tessera
