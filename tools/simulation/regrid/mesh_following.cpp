#include "tools/simulation/regrid/mesh_following.hpp"

#include <cmath>
#include <string>

#include "core/exact_sum.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/analysis/field_finder.hpp"
#include "tools/simulation/regrid/flag_tasks.hpp"

namespace tessera {
namespace {

/// Flags are differences to neighbours, also to those beyond the domain.
void checkSides(const LabelInfo& info, const Geometry& geometry, const FlagCriterion& criterion,
                DeckDiagnostics& findings) {
  for (int side = 0; side < kSides; ++side) {
    const int axis = side / 2;
    if (!geometry.active(axis) || geometry.wraps(axis) || info.hasCondition(side)) continue;
    findings.error(criterion.where, "[[amr.criterion]] compares cells of \"" + info.name +
                                        "\", which has no condition beyond " + sideName(side) +
                                        "; name a variable that has one, or use kind = \"expression\"");
    return;
  }
}

/// Nobody contributes where a level has no patch.
double countOf(double sum) { return std::isnan(sum) ? 0.0 : sum; }

bool isWritten(const StepPlan& plan, LabelId label) {
  for (const TaskDeclaration& task : plan.tasks()) {
    for (const WriteDeclaration& write : task.writes) {
      if (write.label == label) return true;
    }
  }
  return false;
}

}  // namespace

MeshFollowing::MeshFollowing(const RunSettings& settings, LabelTable& labels,
                             std::span<const LabelId> persistent)
    : settings_(*settings.regrid),
      labels_(labels),
      persistent_(persistent),
      rules_(regridRulesOf(settings)),
      static_(tessera::staticFlags(settings, rules_)),
      count_(labels.reduction("regrid.flagged_cells")),
      found_(std::make_shared<FlaggedBlocks>(rules_, buffersOf(settings))) {
  DeckDiagnostics findings;
  FieldFinder finder("[[amr.criterion]]", labels, persistent, findings);
  for (const FlagCriterion& criterion : settings_.criteria) {
    fields_.emplace_back();
    if (criterion.kind == FlagKind::Expression) continue;
    fields_.back() = finder.ofCells(criterion.variable, criterion.where);
    if (const LabelId found = fields_.back().variable; found >= 0)
      checkSides(labels.info(found), settings.geometry, criterion, findings);
  }
  findings.throwIfErrors();
}

void MeshFollowing::declarePlans(std::span<const std::unique_ptr<Component>> components,
                                 const StandInsByPlan& standIns, std::vector<StepPlan>& plans) {
  checkComponents(components);
  plans.push_back(flagPlan());
  plans.push_back(carryPlan(components));
  widenNesting(rules_, plans, labels_, standIns);
}

std::vector<Diagnostic> MeshFollowing::declareCounts(StepPlan& diagnostics) const {
  std::vector<Diagnostic> columns;
  for (std::size_t level = 0; level <= rules_.levels.size(); ++level) {
    const std::string name = "mesh.cells_level_" + std::to_string(level);
    const ReductionLabel cells = labels_.reduction(name);
    diagnostics.task("Regrid::count " + std::to_string(level))
        .on(static_cast<LevelId>(level))
        .contributes(cells, Sum)
        .withoutDt()
        .runs<Cpu>([cells](const auto& task) {
          ExactSum sum;
          sum.add(static_cast<double>(task.interior().volume()));
          task.contribute(cells, sum);
        });
    columns.push_back({.name = name, .reduction = cells, .show = countOf, .unit = "1"});
  }
  return columns;
}

void MeshFollowing::checkComponents(std::span<const std::unique_ptr<Component>> components) const {
  DeckDiagnostics findings;
  for (const auto& component : components) {
    if (component->followsMesh()) continue;
    findings.error(settings_.levelsWhere, "component \"" + component->name() +
                                              "\" cannot go to a mesh of other cells; remove amr.max_levels, "
                                              "and say with [[grid.level]] where levels are");
  }
  findings.throwIfErrors();
}

StepPlan MeshFollowing::flagPlan() const {
  StepPlan plan(kFlagPlan);
  for (std::size_t n = 0; n < fields_.size(); ++n)
    declareFlags(plan, "Regrid::flag " + std::to_string(n + 1), settings_.criteria[n], fields_[n], count_,
                 found_);
  return plan;
}

/// What components do not write anew is carried over; then they find all of it.
StepPlan MeshFollowing::carryPlan(std::span<const std::unique_ptr<Component>> components) const {
  StepPlan ofComponents(kCarryPlan);
  for (const auto& component : components) component->declareRegrid(ofComponents);
  StepPlan plan(kCarryPlan);
  DeckDiagnostics findings;
  for (const LabelId label : persistent_) {
    if (isWritten(ofComponents, label)) continue;
    const LabelInfo& info = labels_.info(label);
    if (info.centering != Centering::Cell || info.type.scalar != Scalar::Float64 ||
        info.type.together() != 1) {
      findings.error(settings_.levelsWhere, "the variable \"" + info.name + "\" has " + asText(info.type) +
                                                " per " + asText(info.centering) +
                                                ", which cannot go to new cells; remove amr.max_levels");
    } else if (info.components.empty()) {
      carry(plan, info.name, Label<double, Cell>{label}, info.prolongation, newCells_);
    } else {
      carry(plan, info.name, Label<Components<double>, Cell>{label}, info.prolongation, newCells_);
    }
  }
  findings.throwIfErrors();
  for (const TaskDeclaration& task : ofComponents.tasks()) plan.add(task);
  return plan;
}

std::shared_ptr<const Hierarchy> MeshFollowing::staticMesh(const Division& division) const {
  const auto coarsest = Hierarchy::uniform(rules_.geometry, division);
  return regriddedHierarchy(rules_, coarsest->level(0), regrid(rules_, static_));
}

}  // namespace tessera
