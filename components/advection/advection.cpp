#include "components/advection/advection.hpp"

#include "components/average_down.hpp"
#include "components/expression_fill.hpp"

namespace tessera {
namespace {

const char* const kVelocityKeys[kAxes] = {"velocity.x", "velocity.y", "velocity.z"};

Limiter limiterOf(const ParameterValues& values) {
  if (values.choice("scheme") == "upwind") return Limiter::Flat;
  const std::string& name = values.choice("limiter");
  if (name == "minmod") return Limiter::Minmod;
  if (name == "vanleer") return Limiter::VanLeer;
  return name == "mc" ? Limiter::Mc : Limiter::None;
}

}  // namespace

void Advection::declareParameters(ParameterTable& table) const {
  table.choice("scheme", {"upwind", "plm"})
      .doc("\"upwind\": first order; \"plm\": piecewise linear, second order")
      .defaultsTo("plm");
  table.choice("limiter", {"none", "minmod", "vanleer", "mc"})
      .doc("keeps \"plm\" free of new extrema; not used by \"upwind\"")
      .defaultsTo("mc");
  for (const char* key : kVelocityKeys) {
    table.expression(key).doc("velocity along this axis").unit("length/time").defaultsTo(0);
  }
  table.expression("initial", {"x", "y", "z"}).doc("concentration at the start").required();
  declareBoundaries(table, BoundaryKind::Outflow);
  ErrorNorms::declareParameters(table);
}

void Advection::configure(const ParameterValues& values, ComponentSetup& setup) {
  initial_ = values.expression("initial");
  stableDt_ = setup.stableDt;
  levels_ = setup.levels;
  averagesStages_ = setup.averagesStages();
  params_.limiter = limiterOf(values);

  labels_.concentration = setup.labels.variable<double, Cell>("concentration", "amount/length^3");
  const BoundaryConditions boundary = readBoundaries(values, setup.geometry, BoundaryKind::Outflow);
  setup.labels.setBoundary(labels_.concentration, boundary);
  for (std::size_t side = 0; side < boundary.sides.size(); ++side) {
    params_.inflow[side] = boundary.sides[side] && boundary.sides[side]->kind == BoundaryKind::Dirichlet;
  }
  if (params_.limiter != Limiter::Flat) {
    labels_.stage = setup.labels.variable<double, Cell>("advection.stage", "amount/length^3");
    setup.labels.setBoundary(labels_.stage, boundary);
    setup.labels.approximates(labels_.stage, labels_.concentration, 1.0);
  }
  const Prolongation prolongation = setup.prolongation.value_or(
      params_.limiter == Limiter::None ? Prolongation::Linear : Prolongation::LimitedLinear);
  setup.labels.setProlongation(labels_.concentration, prolongation);
  if (params_.limiter != Limiter::Flat) setup.labels.setProlongation(labels_.stage, prolongation);
  keepsFluxes_ = setup.keepsFluxes();
  if (keepsFluxes_) passed_ = passedLabels(setup, "advection.passed");
  configureVelocity(values, setup);
  norms_ = ErrorNorms("Advection", values, setup, labels_.concentration);
}

void Advection::configureVelocity(const ParameterValues& values, ComponentSetup& setup) {
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    velocity_[axis] = values.expression(kVelocityKeys[axis]);
    params_.active[axis] = setup.geometry.active(d);
    params_.velocityVaries = params_.velocityVaries || !velocity_[axis].isConstant();
    velocityMoves_ = velocityMoves_ || velocity_[axis].dependsOnTime();
    if (velocity_[axis].isConstant()) params_.velocity[d] = velocity_[axis](0, 0, 0, 0);
  }
  if (!params_.velocityVaries) return;
  labels_.velocityX = setup.labels.variable<double, FaceX>("advection.velocity_x", "length/time");
  labels_.velocityY = setup.labels.variable<double, FaceY>("advection.velocity_y", "length/time");
  labels_.velocityZ = setup.labels.variable<double, FaceZ>("advection.velocity_z", "length/time");
}

void Advection::declareInitial(StepPlan& plan) const {
  plan.task("Advection::initial")
      .writes(labels_.concentration)
      .runs<Cpu>(
          [q = labels_.concentration, f = initial_](const auto& task) { fill(task, q, f, task.time()); });
  if (levels_ > 1) averageDown(plan, "Advection::averageDown", labels_.concentration);
  if (params_.velocityVaries) declareVelocity(plan);
  declareStableDt(plan, New);
}

void Advection::declareRegrid(StepPlan& plan) const {
  if (params_.velocityVaries) declareVelocity(plan);
  declareStableDt(plan, New);
}

void Advection::declareStep(StepPlan& step) const {
  const bool oneStage = params_.limiter == Limiter::Flat;
  const auto target = oneStage ? labels_.concentration : labels_.stage;
  const Generation endOfStep = velocityMoves_ ? New : Old;

  if (velocityMoves_) declareVelocity(step);
  TaskBuilder advance = step.task("Advection::advance");
  readVelocity(advance, Old);
  advance.reads(Old, labels_.concentration, faceHalo(oneStage ? 1 : 2))
      .writes(target, inLoop("Advection::advance"))
      .runs(advanceAdvection(labels_, params_, target));
  if (!oneStage && averagesStages_) averageDown(step, "Advection::averageStage", labels_.stage);
  if (keepsFluxes_) declareFluxes(step, endOfStep);
  if (!oneStage) {
    TaskBuilder correct = step.task("Advection::correct");
    readVelocity(correct, endOfStep);
    correct.reads(Old, labels_.concentration)
        .reads(New, labels_.stage, faceHalo(2))
        .writes(labels_.concentration, inLoop("Advection::correct"))
        .runs(correctAdvection(labels_, params_, endOfStep));
  }
  if (keepsFluxes_) {
    refluxes(step, "Advection::reflux", labels_.concentration, passed_,
             oneStage ? "Advection::advance" : "Advection::correct");
  }
  if (levels_ > 1) {
    averageDown(step, "Advection::averageDown", labels_.concentration,
                keepsFluxes_ ? "Advection::reflux" : "");
  }
  declareStableDt(step, endOfStep);
}

/// What has passed the faces, stage by stage.
void Advection::declareFluxes(StepPlan& step, Generation endOfStep) const {
  const bool oneStage = params_.limiter == Limiter::Flat;
  TaskBuilder first = step.task("Advection::pass");
  readVelocity(first, Old);
  first.reads(Old, labels_.concentration, faceHalo(oneStage ? 1 : 2)).withoutDt();
  writePassed(first, passed_);
  first.runs(fluxOfAdvection(labels_, params_, passed_, oneStage ? 1.0 : 0.5));
  if (oneStage) return;
  TaskBuilder second = step.task("Advection::passOn");
  readVelocity(second, endOfStep);
  second.reads(New, labels_.stage, faceHalo(2)).withoutDt();
  writePassed(second, passed_, "Advection::pass");
  second.runs(fluxOfCorrection(labels_, params_, passed_, 0.5, endOfStep));
}

void Advection::declareVelocity(StepPlan& plan) const {
  const auto along = [&](const char* name, auto label, const Expression& f) {
    plan.task(name).writes(label).template runs<Cpu>(
        [label, f](const auto& task) { fill(task, label, f, task.time() + task.dt()); });
  };
  along("Advection::velocityX", labels_.velocityX, velocity_[0]);
  if (params_.active[1]) along("Advection::velocityY", labels_.velocityY, velocity_[1]);
  if (params_.active[2]) along("Advection::velocityZ", labels_.velocityZ, velocity_[2]);
}

void Advection::declareStableDt(StepPlan& plan, Generation velocity) const {
  TaskBuilder task = plan.task("Advection::stableDt");
  readVelocity(task, velocity);
  task.contributes(stableDt_, Min).withoutDt().runs(stableAdvectionDt(labels_, params_, stableDt_, velocity));
}

void Advection::readVelocity(TaskBuilder& task, Generation generation) const {
  if (!params_.velocityVaries) return;
  task.reads(generation, labels_.velocityX);
  if (params_.active[1]) task.reads(generation, labels_.velocityY);
  if (params_.active[2]) task.reads(generation, labels_.velocityZ);
}

}  // namespace tessera
