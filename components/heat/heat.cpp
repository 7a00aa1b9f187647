#include "components/heat/heat.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "components/average_down.hpp"
#include "components/expression_fill.hpp"
#include "components/heat/added_sources.hpp"

namespace tessera {
namespace {

/// Fills the conductivity, which has to be positive in every cell.
template <class Task>
void fillConductivity(const Task& task, Label<double, Cell> label, const Expression& expression,
                      const std::string& place) {
  const auto k = task.write(label);
  forEachValue(expression, task.level(), task.interior(), Cell, task.time(), [&](Index x, double value) {
    if (!(value > 0.0)) {
      throw DeckError(place + ": error: heat.conductivity is " + std::to_string(value) + " in cell " +
                      asText(x) + "; give an expression that is above 0 everywhere");
    }
    k(x) = value;
  });
}

/// Looks at some cells of the box, its corners among them, so that most slips are found before a run begins.
void requireAboveZero(const Expression& conductivity, const Geometry& geometry, const std::string& place) {
  constexpr std::int64_t kMost = 16;  // cells looked at along an axis, less one
  const auto positions = [&](int axis) {
    const std::int64_t last = geometry.cells[axis] - 1;
    const std::int64_t pieces = std::clamp<std::int64_t>(last, 1, kMost);
    const double size =
        (geometry.upper[axis] - geometry.lower[axis]) / static_cast<double>(geometry.cells[axis]);
    std::vector<double> at;
    for (std::int64_t n = 0; n <= (last > 0 ? pieces : 0); ++n) {
      const std::int64_t cell = last * n / pieces;
      at.push_back(geometry.lower[axis] + (static_cast<double>(cell) + 0.5) * size);
    }
    return at;
  };
  for (const double z : positions(2)) {
    for (const double y : positions(1)) {
      for (const double x : positions(0)) {
        const double value = conductivity(x, y, z, 0.0);
        if (value > 0.0) continue;
        std::ostringstream text;
        text << place << ": error: heat.conductivity is " << value << " at (" << x << ", " << y << ", " << z
             << "); give an expression that is above 0 everywhere";
        throw DeckError(text.str());
      }
    }
  }
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
  table.check(checkAddedSources);
  table.expression("initial", {"x", "y", "z"}).doc("temperature at the start").required();
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
  if (values.has("sources")) added_ = readAddedSources(values.texts("sources"), setup.labels);
  params_.sourceVaries = !source_.isConstant() || !added_.empty();

  labels_.temperature = setup.labels.variable<double, Cell>("temperature", "temperature");
  setup.labels.setBoundary(labels_.temperature,
                           readBoundaries(values, setup.geometry, BoundaryKind::Neumann));
  norms_ = ErrorNorms("Heat", values, setup, labels_.temperature);

  if (params_.sourceVaries) {
    labels_.source = setup.labels.variable<double, Cell>("heat.source", "temperature/time");
  } else {
    params_.source = source_(0, 0, 0, 0);
  }
  if (params_.conductivityVaries) {
    requireAboveZero(conductivity_, setup.geometry, conductivityWhere_.text());
    labels_.conductivity = setup.labels.variable<double, Cell>("heat.conductivity", "length^2/time");
    BoundaryConditions onFaces;
    onFaces.sides.fill(SideCondition{BoundaryKind::Dirichlet, conductivity_});
    setup.labels.setBoundary(labels_.conductivity, onFaces);
  } else {
    params_.conductivity = conductivity_(0, 0, 0, 0);
  }
}

void Heat::declareInitial(StepPlan& plan) const {
  plan.task("Heat::initial")
      .writes(labels_.temperature)
      .runs<Cpu>(
          [T = labels_.temperature, f = initial_](const auto& task) { fill(task, T, f, task.time()); });
  averageLevels(plan);
  if (params_.conductivityVaries) {
    plan.task("Heat::conductivity")
        .writes(labels_.conductivity)
        .runs<Cpu>([k = labels_.conductivity, f = conductivity_, place = conductivityWhere_.text()](
                       const auto& task) { fillConductivity(task, k, f, place); });
  }
  declareStableDt(plan, New);
}

void Heat::declareStep(StepPlan& step) const {
  if (params_.sourceVaries) {
    step.task("Heat::source")
        .writes(labels_.source)
        .withoutDt()
        .runs<Cpu>([q = labels_.source, f = source_](const auto& task) { fill(task, q, f, task.time()); });
  }
  if (!added_.empty()) {
    TaskBuilder add = step.task("Heat::addSources");
    for (const AddedSource& one : added_) add.reads(Old, one.label);
    add.modifies(labels_.source).withoutDt().runs(addHeatSources(labels_.source, added_));
  }
  TaskBuilder advance = step.task("Heat::advance");
  advance.reads(Old, labels_.temperature, faceHalo(1)).writes(labels_.temperature, inLoop("Heat::advance"));
  if (params_.conductivityVaries) advance.reads(Old, labels_.conductivity, faceHalo(1));
  if (params_.sourceVaries) advance.reads(New, labels_.source);
  advance.runs(advanceHeat(labels_, params_));
  averageLevels(step);
  declareStableDt(step, Old);
}

void Heat::averageLevels(StepPlan& plan) const {
  if (levels_ > 1) averageDown(plan, "Heat::averageDown", labels_.temperature);
}

void Heat::declareStableDt(StepPlan& plan, Generation conductivity) const {
  TaskBuilder task = plan.task("Heat::stableDt");
  if (params_.conductivityVaries) task.reads(conductivity, labels_.conductivity);
  task.contributes(stableDt_, Min).withoutDt().runs(stableHeatDt(labels_, params_, stableDt_, conductivity));
}

}  // namespace tessera
