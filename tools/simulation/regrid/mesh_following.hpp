#pragma once

#include <memory>
#include <span>
#include <vector>

#include "components/component.hpp"
#include "tools/simulation/analysis/analysis_field.hpp"
#include "tools/simulation/deck/run_settings.hpp"
#include "tools/simulation/regrid/flagged_blocks.hpp"
#include "tools/simulation/regrid/new_cells.hpp"
#include "tools/simulation/regrid/regrid_rules.hpp"

namespace tessera {

/// How the mesh of a deck follows the solution: the rules, and the two plans that a regrid runs. One flags
/// cells by their Old values; between the two the run goes over to the next mesh; the other one carries all
/// variables to cells that are new, and finds the largest stable step. Part of a model, for one run of it.
class MeshFollowing {
 public:
  static constexpr const char* kFlagPlan = "regrid.flag";
  static constexpr const char* kCarryPlan = "regrid.carry";

  /// Finds the variables of the criteria among those that live from step to step. Throws DeckError.
  MeshFollowing(const RunSettings& settings, LabelTable& labels, std::span<const LabelId> persistent);

  /// Adds both plans to those of a step, whose halos decide how far levels have to lie within one another;
  /// `standIns`: of the plans of a step. Throws DeckError where a variable cannot be carried, or a component
  /// has none of the hooks.
  void declarePlans(std::span<const std::unique_ptr<Component>> components, const StandInsByPlan& standIns,
                    std::vector<StepPlan>& plans);

  /// Adds the tasks that count the cells of each level, and gives the columns of the history for them.
  std::vector<Diagnostic> declareCounts(StepPlan& diagnostics) const;

  const RegridRules& rules() const { return rules_; }
  const RegridSettings& settings() const { return settings_; }
  /// What is always flagged.
  const std::vector<BlockSet>& staticFlags() const { return static_; }
  /// The mesh before anything is known of the solution.
  std::shared_ptr<const Hierarchy> staticMesh(const Division& division) const;
  /// Number of flagged cells: a sum of the first plan.
  ReductionLabel flaggedCells() const { return count_; }

  /// Of this run: what its tasks have flagged, and which cells they have to fill.
  FlaggedBlocks& found() const { return *found_; }
  NewCells& newCells() const { return *newCells_; }

 private:
  StepPlan flagPlan() const;
  StepPlan carryPlan(std::span<const std::unique_ptr<Component>> components) const;
  void checkComponents(std::span<const std::unique_ptr<Component>> components) const;

  const RegridSettings settings_;
  LabelTable& labels_;
  const std::span<const LabelId> persistent_;
  RegridRules rules_;
  std::vector<BlockSet> static_;
  std::vector<AnalysisField> fields_;  ///< by criterion
  ReductionLabel count_;
  std::shared_ptr<FlaggedBlocks> found_;
  std::shared_ptr<NewCells> newCells_ = std::make_shared<NewCells>();
};

}  // namespace tessera
