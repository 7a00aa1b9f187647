#include "components/poisson/poisson.hpp"

#include "components/detail/positive_fill.hpp"
#include "components/expression_fill.hpp"
#include "components/stencils/face_coefficients.hpp"

namespace tessera {
namespace {

/// A solve is good for a step of any length: one that no other limit lets through.
constexpr double kAnyLength = 1e300;

}  // namespace

void Poisson::declareParameters(ParameterTable& table) const {
  table.expression("coefficient", {"x", "y", "z"})
      .doc("coefficient b of -div(b grad u) = f")
      .above(0)
      .defaultsTo(1);
  table.expression("source").doc("right-hand side f, at the end of a step").required();
  table.expression("initial", {"x", "y", "z"})
      .doc("u at the start, with which the first solve begins")
      .defaultsTo(0);
  table.real("mean").doc("the mean of u where no side gives a value").defaultsTo(0);
  declareBoundaries(table, BoundaryKind::Dirichlet);
  ErrorNorms::declareParameters(table);
}

void Poisson::configure(const ParameterValues& values, ComponentSetup& setup) {
  initial_ = values.expression("initial");
  source_ = values.expression("source");
  coefficientValue_ = values.expression("coefficient");
  coefficientWhere_ = values.where("coefficient");
  coefficientVaries_ = !coefficientValue_.isConstant();
  stableDt_ = setup.stableDt;
  system_.mean = values.real("mean");
  system_.solution = setup.labels.variable<double, Cell>("potential", "potential");
  system_.rightHandSide = setup.labels.variable<double, Cell>("poisson.source", "potential/length^2");
  setup.labels.setBoundary(system_.solution, readBoundaries(values, setup.geometry, BoundaryKind::Dirichlet));
  setup.labels.setProlongation(system_.solution, setup.prolongation.value_or(Prolongation::Linear));
  norms_ = ErrorNorms("Poisson", values, setup, system_.solution);
  if (!coefficientVaries_) {
    system_.coefficient = coefficientValue_(0, 0, 0, 0);
    return;
  }
  requirePositive(coefficientValue_, setup.geometry, coefficientWhere_.text(), "poisson.coefficient");
  coefficient_ = setup.labels.variable<double, Cell>("poisson.coefficient", "1");
  BoundaryConditions onFaces;
  onFaces.sides.fill(SideCondition{BoundaryKind::Dirichlet, coefficientValue_});
  setup.labels.setBoundary(coefficient_, onFaces);
  setup.labels.setProlongation(coefficient_, Prolongation::Linear);
  system_.faces = faceLabels(setup.labels, setup.geometry, "poisson.coefficient", "1");
}

void Poisson::declareInitial(StepPlan& plan) const {
  plan.task("Poisson::initial")
      .writes(system_.solution)
      .runs<Cpu>([u = system_.solution, f = initial_](const auto& task) { fill(task, u, f, task.time()); });
  declareStableDt(plan);
  if (!coefficientVaries_) return;
  plan.task("Poisson::coefficient")
      .writes(coefficient_)
      .runs<Cpu>([b = coefficient_, f = coefficientValue_, place = coefficientWhere_.text()](
                     const auto& task) { fillPositive(task, b, f, place, "poisson.coefficient"); });
}

void Poisson::declareStep(StepPlan& step) const {
  step.task("Poisson::source")
      .writes(system_.rightHandSide)
      .runs<Cpu>([q = system_.rightHandSide, f = source_](const auto& task) {
        fill(task, q, f, task.time() + task.dt());
      });
  declareStableDt(step);
  if (coefficientVaries_) declareFaceMeans(step, "Poisson::faces", coefficient_, *system_.faces);
}

void Poisson::declareStableDt(StepPlan& plan) const {
  plan.task("Poisson::stableDt")
      .contributes(stableDt_, Min)
      .withoutDt()
      .runs<Cpu>([dt = stableDt_](const auto& task) { task.contribute(dt, kAnyLength); });
}

std::vector<StepProgram> Poisson::stepPrograms() const {
  StepProgram program("step");
  program.run("poisson");
  program.solve("poisson.solve", system_);
  return {program};
}

}  // namespace tessera
