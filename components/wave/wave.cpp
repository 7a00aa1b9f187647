#include "components/wave/wave.hpp"

#include "components/average_down.hpp"
#include "components/expression_fill.hpp"
#include "components/wave/wave_kernels.hpp"

namespace tessera {
namespace {

/// Refluxed once in several steps of the finer level, waves grow at its border without end.
void refuseRefluxOfSubcycles(const ComponentSetup& setup) {
  if (!setup.subcycles || !setup.keepsFluxes()) return;
  DeckDiagnostics findings;
  findings.error(
      setup.subcycleWhere,
      "wave is unstable where finer levels take steps of their own and their fluxes are given to coarser "
      "cells; remove amr.subcycle, or set amr.reflux = false, with which the integral of the velocity "
      "is not kept");
  findings.throwIfErrors();
}

}  // namespace

void Wave::declareParameters(ParameterTable& table) const {
  table.real("speed").doc("speed c of waves").unit("length/time").above(0).required();
  table.expression("initial", {"x", "y", "z"}).doc("displacement u at the start").required();
  table.expression("initial_velocity", {"x", "y", "z"}).doc("u_t at the start").defaultsTo(0);
  declareBoundaries(table, BoundaryKind::Neumann);
  ErrorNorms::declareParameters(table);
}

void Wave::configure(const ParameterValues& values, ComponentSetup& setup) {
  refuseRefluxOfSubcycles(setup);
  speed_ = values.real("speed");
  initial_ = values.expression("initial");
  initialVelocity_ = values.expression("initial_velocity");
  stableDt_ = setup.stableDt;
  levels_ = setup.levels;
  displacement_ = setup.labels.variable<double, Cell>("displacement", "length");
  velocity_ = setup.labels.variable<double, Cell>("wave.velocity", "length/time");
  setup.labels.setBoundary(displacement_, readBoundaries(values, setup.geometry, BoundaryKind::Neumann));
  // Of cells that are new on a mesh that follows; nothing else reads it beyond a side.
  setup.labels.setBoundary(velocity_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  for (const auto label : {displacement_, velocity_})
    setup.labels.setProlongation(label, setup.prolongation.value_or(Prolongation::Linear));
  norms_ = ErrorNorms("Wave", values, setup, displacement_);
  momentum_ = setup.labels.reduction("wave.momentum");
  subcycles_ = setup.subcycles;
  keepsFluxes_ = setup.keepsFluxes();
  if (!keepsFluxes_) return;
  passedInDrift_ = passedLabels(setup, "wave.drift_passed");
  passedInKick_ = passedLabels(setup, "wave.kick_passed");
}

void Wave::declareInitial(StepPlan& plan) const {
  plan.task("Wave::initial")
      .writes(displacement_)
      .runs<Cpu>([u = displacement_, f = initial_](const auto& task) { fill(task, u, f, task.time()); });
  plan.task("Wave::initialVelocity")
      .writes(velocity_)
      .runs<Cpu>([v = velocity_, f = initialVelocity_](const auto& task) { fill(task, v, f, task.time()); });
  averageLevels(plan, displacement_, "Wave::averageDown");
  averageLevels(plan, velocity_, "Wave::averageVelocity");
  declareStableDt(plan);
}

void Wave::declareStep(StepPlan& step) const {
  const WaveLabels labels{displacement_, velocity_};
  step.task("Wave::drift")
      .reads(Old, displacement_, faceHalo(1))
      .reads(Old, velocity_)
      .writes(displacement_, inLoop("Wave::drift"))
      .runs(driftWave(labels, speed_));
  if (keepsFluxes_) {
    TaskBuilder flux = step.task("Wave::driftFlux");
    flux.reads(Old, displacement_, faceHalo(1));
    writePassed(flux, passedInDrift_);
    flux.runs(driftFluxOfWave(displacement_, speed_, passedInDrift_));
    refluxes(step, "Wave::refluxDrift", displacement_, passedInDrift_, "Wave::drift");
  }
  averageLevels(step, displacement_, "Wave::averageDown", keepsFluxes_ ? "Wave::refluxDrift" : "");
  step.task("Wave::kick")
      .reads(Old, displacement_, faceHalo(1))
      .reads(New, displacement_, faceHalo(1))
      .reads(Old, velocity_)
      .writes(velocity_, inLoop("Wave::kick"))
      .runs(kickWave(labels, speed_));
  if (keepsFluxes_) {
    TaskBuilder flux = step.task("Wave::kickFlux");
    flux.reads(Old, displacement_, faceHalo(1)).reads(New, displacement_, faceHalo(1)).withoutDt();
    writePassed(flux, passedInKick_);
    flux.runs(kickFluxOfWave(displacement_, speed_, passedInKick_));
    refluxes(step, "Wave::refluxKick", velocity_, passedInKick_, "Wave::kick");
  }
  averageLevels(step, velocity_, "Wave::averageVelocity", keepsFluxes_ ? "Wave::refluxKick" : "");
  declareStableDt(step);
}

void Wave::averageLevels(StepPlan& plan, Label<double, Cell> label, const char* name,
                         std::string_view of) const {
  if (levels_ > 1) averageDown(plan, name, label, of);
}

void Wave::declareDiagnostics(StepPlan& plan) const {
  norms_.declareTasks(plan);
  plan.task("Wave::momentum")
      .reads(Old, velocity_)
      .contributes(momentum_, Sum)
      .runs(momentumOfWave(velocity_, momentum_));
}

std::vector<Diagnostic> Wave::diagnostics() const {
  std::vector<Diagnostic> columns = norms_.diagnostics();
  columns.push_back({.name = "wave.momentum", .reduction = momentum_, .unit = integralUnit("length/time")});
  return columns;
}

/// Where levels take steps of their own, longer ones grow at their borders.
void Wave::declareStableDt(StepPlan& plan) const {
  const double speed = subcycles_ ? 2.0 * speed_ : speed_;
  plan.task("Wave::stableDt").contributes(stableDt_, Min).withoutDt().runs(stableWaveDt(stableDt_, speed));
}

}  // namespace tessera
