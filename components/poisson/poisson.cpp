#include "components/poisson/poisson.hpp"

#include "components/detail/positive_fill.hpp"
#include "components/expression_fill.hpp"
#include "components/stencils/face_coefficients.hpp"
#include "core/deck/deck_diagnostics.hpp"

namespace tessera {
namespace {

/// A solve is good for a step of any length: one that no other limit lets through.
constexpr double kAnyLength = 1e300;
const char* const kVelocityKeys[kAxes] = {"velocity.x", "velocity.y", "velocity.z"};

}  // namespace

void Poisson::declareParameters(ParameterTable& table) const {
  table.expression("coefficient", {"x", "y", "z"})
      .doc("coefficient b of v . grad u - div(b grad u) = f")
      .above(0)
      .defaultsTo(1);
  table.expression("source").doc("right-hand side f, at the end of a step").required();
  table.expression("initial", {"x", "y", "z"})
      .doc("u at the start, with which the first solve begins")
      .defaultsTo(0);
  for (const char* key : kVelocityKeys)
    table.expression(key).doc("velocity v along this axis").unit("1/length").defaultsTo(0);
  table.expression("solid.where", {"x", "y", "z"})
      .doc("where it is not 0 at the centre of a cell, the cell is solid: no part of the problem")
      .optional();
  table.expression("solid.value", {"x", "y", "z"})
      .doc("u in solid cells; where it is not given nothing passes into them")
      .optional();
  table.check([](const ParameterValues& values, DeckDiagnostics& findings) {
    if (values.has("solid.value") && !values.has("solid.where"))
      findings.error(values.where("solid.value"), "poisson.solid.value needs poisson.solid.where; give both");
  });
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
  configureFlow(values, setup);
  configureSolid(values, setup);
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

void Poisson::configureFlow(const ParameterValues& values, ComponentSetup& setup) {
  bool isThere = false;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    velocity_[axis] = values.expression(kVelocityKeys[axis]);
    isThere = isThere || !velocity_[axis].isConstant() || velocity_[axis](0, 0, 0, 0) != 0.0;
  }
  if (isThere) system_.flow = faceLabels(setup.labels, setup.geometry, "poisson.velocity", "1/length");
}

void Poisson::configureSolid(const ParameterValues& values, ComponentSetup& setup) {
  if (!values.has("solid.where")) return;
  const std::array where{values.expression("solid.where")};
  open_ = Expression::ofParts("if($0 != 0, 0, 1)", where);
  setup.composed.push_back(open_);
  system_.holes = SystemHoles{setup.labels.variable<double, Cell>("poisson.open", "1")};
  if (!values.has("solid.value")) return;
  system_.holes->faces = SystemHoles::Faces::Held;
  const std::array parts{where[0], values.expression("solid.value"), initial_};
  initial_ = Expression::ofParts("if($0 != 0, $1, $2)", parts);
  setup.composed.push_back(initial_);
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
  if (system_.flow) declareFlow(step);
  if (system_.holes) {
    step.task("Poisson::open")
        .writes(system_.holes->open)
        .withoutDt()
        .runs<Cpu>([open = system_.holes->open, f = open_](const auto& task) { fill(task, open, f, 0.0); });
  }
  if (coefficientVaries_) declareFaceMeans(step, "Poisson::faces", coefficient_, *system_.faces);
}

void Poisson::declareStableDt(StepPlan& plan) const {
  plan.task("Poisson::stableDt")
      .contributes(stableDt_, Min)
      .withoutDt()
      .runs<Cpu>([dt = stableDt_](const auto& task) { task.contribute(dt, kAnyLength); });
}

void Poisson::declareFlow(StepPlan& step) const {
  const FaceCoefficients& faces = *system_.flow;
  TaskBuilder task = step.task("Poisson::velocity");
  if (faces.x.id >= 0) task.writes(faces.x);
  if (faces.y.id >= 0) task.writes(faces.y);
  if (faces.z.id >= 0) task.writes(faces.z);
  task.runs<Cpu>([faces, v = velocity_](const auto& task) {
    const double end = task.time() + task.dt();
    if (faces.x.id >= 0) fill(task, faces.x, v[0], end);
    if (faces.y.id >= 0) fill(task, faces.y, v[1], end);
    if (faces.z.id >= 0) fill(task, faces.z, v[2], end);
  });
}

std::vector<StepProgram> Poisson::stepPrograms() const {
  StepProgram program("step");
  program.run("poisson");
  program.solve("poisson.solve", system_);
  return {program};
}

}  // namespace tessera
