#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"
#include "taskgraph/transfer/migration_plan.hpp"

namespace tessera {

/// The cells of own patches that no patch had before, by variable and patch. Filled between steps, read by
/// tasks.
class NewCells {
 public:
  void take(const MigrationPlan& plan);
  const std::vector<Box>& of(LabelId label, PatchId patch) const;

 private:
  std::map<std::pair<LabelId, PatchId>, std::vector<Box>> boxes_;
};

/// Declares the tasks that carry a variable of doubles per cell to another mesh, level by level from the
/// coarsest one: New is Old where a patch had the cell, and comes from New of the coarser cells around
/// elsewhere, as the variable's prolongation says. So the cells in a coarser one have its mean.
void carry(StepPlan& plan, const std::string& name, Label<double, Cell> label, Prolongation prolongation,
           std::shared_ptr<const NewCells> cells);
void carry(StepPlan& plan, const std::string& name, Label<Components<double>, Cell> label,
           Prolongation prolongation, std::shared_ptr<const NewCells> cells);

}  // namespace tessera
