#include "components/diffusion/diffusion.hpp"

#include <algorithm>

#include "components/average_down.hpp"
#include "components/deck_names.hpp"
#include "components/diffusion/diffusion_kernels.hpp"
#include "components/expression_fill.hpp"

namespace tessera {
namespace {

void checkQuantities(const ParameterValues& values, DeckDiagnostics& findings) {
  const std::vector<ParameterValues>& quantities = values.tables("quantity");
  if (quantities.empty()) {
    findings.error(values.tableWhere(), "nothing diffuses; write a [[diffusion.quantity]] for each quantity");
  }
  checkNames(quantities, {"quantity", "quantities", static_cast<std::size_t>(kMostQuantities)}, findings);
}

}  // namespace

void Diffusion::declareParameters(ParameterTable& table) const {
  ParameterTable& quantity = table.arrayOf("quantity", "one quantity that diffuses");
  quantity.text("name").doc("its name in files and conditions").required();
  quantity.real("diffusivity").doc("diffusivity D").unit("length^2/time").above(0).required();
  quantity.expression("initial", {"x", "y", "z"}).doc("its values at the start").required();
  quantity.choice("axis", {"none", "x", "y", "z"})
      .doc(
          "for the component of a vector: along which axis; a wall that reflects reverses the one normal to "
          "it")
      .defaultsTo("none");
  table.check(checkQuantities);
  declareBoundaries(table, BoundaryKind::Neumann, BoundaryKeys::OfComponents);
}

void Diffusion::configure(const ParameterValues& values, ComponentSetup& setup) {
  for (const ParameterValues& quantity : values.tables("quantity")) {
    const std::string& axis = quantity.choice("axis");
    const std::size_t c = infos_.size();
    infos_.push_back({quantity.text("name"), "", axis == "none" ? -1 : axis[0] - 'x'});
    initial_.push_back(quantity.expression("initial"));
    diffusivities_[c] = quantity.real("diffusivity");
    largest_ = std::max(largest_, diffusivities_[c]);
    totals_[c] = setup.labels.reduction("diffusion.total." + infos_[c].name);
  }
  stableDt_ = setup.stableDt;
  levels_ = setup.levels;
  quantities_ = setup.labels.components<double, Cell>("diffusion", infos_);
  setup.labels.setBoundary(quantities_,
                           readBoundaries(values, setup.geometry, BoundaryKind::Neumann, infos_));
}

void Diffusion::declareInitial(StepPlan& plan) const {
  plan.task("Diffusion::initial")
      .writes(quantities_)
      .runs<Cpu>([u = quantities_, f = initial_](const auto& task) {
        const auto all = task.write(u);
        for (std::size_t c = 0; c < f.size(); ++c) {
          const auto field = all[static_cast<std::int32_t>(c)];
          forEachValue(f[c], task.level(), task.interior(), Cell, task.time(),
                       [&](Index x, double value) { field(x) = value; });
        }
      });
  averageLevels(plan);
  declareStableDt(plan);
}

void Diffusion::declareStep(StepPlan& step) const {
  step.task("Diffusion::advance")
      .reads(Old, quantities_, faceHalo(1))
      .writes(quantities_)
      .runs(advanceDiffusion(quantities_, diffusivities_));
  averageLevels(step);
  declareStableDt(step);
}

void Diffusion::averageLevels(StepPlan& plan) const {
  if (levels_ > 1) averageDown(plan, "Diffusion::averageDown", quantities_);
}

void Diffusion::declareStableDt(StepPlan& plan) const {
  plan.task("Diffusion::stableDt")
      .contributes(stableDt_, Min)
      .withoutDt()
      .runs(stableDiffusionDt(stableDt_, largest_));
}

void Diffusion::declareDiagnostics(StepPlan& plan) const {
  TaskBuilder task = plan.task("Diffusion::totals");
  task.reads(Old, quantities_);
  for (std::size_t c = 0; c < infos_.size(); ++c) task.contributes(totals_[c], Sum);
  task.runs(diffusionTotals(quantities_, totals_));
}

std::vector<Diagnostic> Diffusion::diagnostics() const {
  std::vector<Diagnostic> found;
  for (std::size_t c = 0; c < infos_.size(); ++c)
    found.push_back({"diffusion.total." + infos_[c].name, totals_[c], {}});
  return found;
}

}  // namespace tessera
