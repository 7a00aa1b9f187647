#include "components/heat/heat.hpp"

#include "components/average_down.hpp"
#include "components/detail/positive_fill.hpp"
#include "components/expression_fill.hpp"
#include "components/stencils/face_coefficients.hpp"

namespace tessera {
namespace {

/// The mean of an expression over a step, with the weight `part` at its end.
template <class Task>
void fillWeighted(const Task& task, Label<double, Cell> label, const Expression& expression, double part) {
  fill(task, label, expression, task.time() + task.dt());
  if (part == 1.0) return;
  const auto q = task.write(label);
  forEachValue(expression, task.level(), task.interior(), Cell, task.time(),
               [&](Index x, double before) { q(x) = part * q(x) + (1.0 - part) * before; });
}

}  // namespace

void Heat::declareParameters(ParameterTable& table) const {
  table.expression("conductivity", {"x", "y", "z"})
      .doc("conductivity k of T_t = div(k grad T) + source")
      .unit("length^2/time")
      .above(0)
      .required();
  table.expression("source").doc("heat source, temperature per time").defaultsTo(0);
  table.textList("sources")
      .doc("variables of other components that heat, each with a sign or factor: \"-0.5*rmcrt.divQ\"")
      .optional();
  table.check([](const ParameterValues& values, DeckDiagnostics& findings) {
    checkAddedSources(values, "sources", findings);
  });
  table.expression("initial", {"x", "y", "z"}).doc("temperature at the start").required();
  table.choice("scheme", {"explicit", "backward_euler", "crank_nicolson"})
      .doc("in time; all but \"explicit\" solve a linear system in each step and are stable for any step")
      .defaultsTo("explicit");
  declareBoundaries(table, BoundaryKind::Neumann);
  ErrorNorms::declareParameters(table);
}

void Heat::configure(const ParameterValues& values, ComponentSetup& setup) {
  initial_ = values.expression("initial");
  source_ = values.expression("source");
  conductivity_ = values.expression("conductivity");
  conductivityWhere_ = values.where("conductivity");
  stableDt_ = setup.stableDt;
  levels_ = setup.levels;
  params_.conductivityVaries = !conductivity_.isConstant();
  added_ = readAddedSources(values, "sources", setup.labels);
  params_.sourceVaries = !source_.isConstant() || !added_.empty();

  labels_.temperature = setup.labels.variable<double, Cell>("temperature", "temperature");
  setup.labels.setBoundary(labels_.temperature,
                           readBoundaries(values, setup.geometry, BoundaryKind::Neumann));
  norms_ = ErrorNorms("Heat", values, setup, labels_.temperature);
  const Prolongation prolongation = setup.prolongation.value_or(Prolongation::Linear);
  setup.labels.setProlongation(labels_.temperature, prolongation);
  keepsFluxes_ = setup.keepsFluxes() && values.choice("scheme") == "explicit";
  if (keepsFluxes_) passed_ = passedLabels(setup, "heat.passed");

  if (params_.sourceVaries) {
    labels_.source = setup.labels.variable<double, Cell>("heat.source", "temperature/time");
  } else {
    params_.source = source_(0, 0, 0, 0);
  }
  if (params_.conductivityVaries) {
    requirePositive(conductivity_, setup.geometry, conductivityWhere_.text(), "heat.conductivity");
    labels_.conductivity = setup.labels.variable<double, Cell>("heat.conductivity", "length^2/time");
    BoundaryConditions onFaces;
    onFaces.sides.fill(SideCondition{BoundaryKind::Dirichlet, conductivity_});
    setup.labels.setBoundary(labels_.conductivity, onFaces);
  } else {
    params_.conductivity = conductivity_(0, 0, 0, 0);
  }
  if (values.choice("scheme") != "explicit") configureImplicit(values, setup);
}

void Heat::configureImplicit(const ParameterValues& values, ComponentSetup& setup) {
  if (setup.subcycles) {
    throw DeckError(values.where("scheme").text() + ": error: heat.scheme = \"" + values.choice("scheme") +
                    "\" solves on all levels together; remove amr.subcycle, or take \"explicit\"");
  }
  implicitPart_ = values.choice("scheme") == "backward_euler" ? 1.0 : 0.5;
  labels_.rightHandSide = setup.labels.variable<double, Cell>("heat.right_hand_side", "temperature");
  system_.solution = labels_.temperature;
  system_.rightHandSide = labels_.rightHandSide;
  system_.mass = 1.0;
  system_.coefficient = params_.conductivity;
  system_.partOfDt = implicitPart_;
  if (!params_.conductivityVaries) return;
  system_.faces = faceLabels(setup.labels, setup.geometry, "heat.conductivity", "length^2/time");
  setup.labels.setProlongation(labels_.conductivity, Prolongation::Linear);
}

void Heat::declareInitial(StepPlan& plan) const {
  plan.task("Heat::initial")
      .writes(labels_.temperature)
      .runs<Cpu>(
          [T = labels_.temperature, f = initial_](const auto& task) { fill(task, T, f, task.time()); });
  averageLevels(plan, "");
  declareConductivity(plan);
  if (implicitPart_ == 0.0) declareStableDt(plan, New);
}

void Heat::declareRegrid(StepPlan& plan) const {
  declareConductivity(plan);
  if (implicitPart_ == 0.0) declareStableDt(plan, New);
}

void Heat::declareConductivity(StepPlan& plan) const {
  if (!params_.conductivityVaries) return;
  plan.task("Heat::conductivity")
      .writes(labels_.conductivity)
      .runs<Cpu>([k = labels_.conductivity, f = conductivity_, place = conductivityWhere_.text()](
                     const auto& task) { fillPositive(task, k, f, place, "heat.conductivity"); });
}

void Heat::declareStep(StepPlan& step) const {
  if (implicitPart_ > 0.0) return declareImplicit(step);
  if (params_.sourceVaries) {
    step.task("Heat::source")
        .writes(labels_.source)
        .withoutDt()
        .runs<Cpu>([q = labels_.source, f = source_](const auto& task) { fill(task, q, f, task.time()); });
  }
  addSources(step);
  TaskBuilder advance = step.task("Heat::advance");
  advance.reads(Old, labels_.temperature, faceHalo(1)).writes(labels_.temperature, inLoop("Heat::advance"));
  if (params_.conductivityVaries) advance.reads(Old, labels_.conductivity, faceHalo(1));
  if (params_.sourceVaries) advance.reads(New, labels_.source);
  advance.runs(advanceHeat(labels_, params_));
  if (keepsFluxes_) declareFlux(step);
  averageLevels(step, keepsFluxes_ ? "Heat::reflux" : "");
  declareStableDt(step, Old);
}

void Heat::addSources(StepPlan& step) const {
  if (added_.empty()) return;
  declareAddedSources(step.task("Heat::addSources"), labels_.source, added_, Old);
}

void Heat::declareImplicit(StepPlan& step) const {
  if (params_.sourceVaries) {
    step.task("Heat::source")
        .writes(labels_.source)
        .runs<Cpu>([q = labels_.source, f = source_, part = implicitPart_](const auto& task) {
          fillWeighted(task, q, f, part);
        });
  }
  addSources(step);
  TaskBuilder task = step.task("Heat::rightHandSide");
  task.reads(Old, labels_.temperature).writes(labels_.rightHandSide, inLoop("Heat::rightHandSide"));
  if (params_.sourceVaries) task.reads(New, labels_.source);
  task.runs(rightHandSideOfHeat(labels_, params_, implicitPart_));
  if (system_.faces) declareFaceMeans(step, "Heat::faces", labels_.conductivity, *system_.faces);
}

std::vector<StepProgram> Heat::stepPrograms() const {
  if (implicitPart_ == 0.0) return {};
  StepProgram program("step");
  program.run("heat");
  program.solve("heat.solve", system_);
  return {program};
}

void Heat::declareFlux(StepPlan& step) const {
  TaskBuilder flux = step.task("Heat::flux");
  flux.reads(Old, labels_.temperature, faceHalo(1)).withoutDt();
  if (params_.conductivityVaries) flux.reads(Old, labels_.conductivity, faceHalo(1));
  writePassed(flux, passed_);
  flux.runs(fluxOfHeat(labels_, params_, passed_));
  refluxes(step, "Heat::reflux", labels_.temperature, passed_, "Heat::advance");
}

void Heat::averageLevels(StepPlan& plan, std::string_view of) const {
  if (levels_ > 1) averageDown(plan, "Heat::averageDown", labels_.temperature, of);
}

void Heat::declareStableDt(StepPlan& plan, Generation conductivity) const {
  TaskBuilder task = plan.task("Heat::stableDt");
  if (params_.conductivityVaries) task.reads(conductivity, labels_.conductivity);
  task.contributes(stableDt_, Min).withoutDt().runs(stableHeatDt(labels_, params_, stableDt_, conductivity));
}

}  // namespace tessera
