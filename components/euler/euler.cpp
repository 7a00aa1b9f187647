#include "components/euler/euler.hpp"

#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include "components/average_down.hpp"
#include "components/cell_means.hpp"
#include "components/deck_names.hpp"
#include "components/euler/cell_codes.hpp"
#include "components/euler/gas_boundaries.hpp"
#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

constexpr std::array kNumbers{"mass", "momentum_x", "momentum_y", "momentum_z", "energy"};
constexpr std::size_t kMostScalars = 27;

Limiter limiterOf(const std::string& name) {
  if (name == "constant") return Limiter::Flat;
  if (name == "minmod") return Limiter::Minmod;
  if (name == "vanleer") return Limiter::VanLeer;
  return name == "mc" ? Limiter::Mc : Limiter::None;
}

void checkScalars(const ParameterValues& values, DeckDiagnostics& findings) {
  const std::set<std::string> taken{"density", "momentum_x", "momentum_y", "momentum_z", "energy"};
  checkNames(values.tables("scalar"), {"passive scalar", "passive scalars", kMostScalars, taken}, findings);
}

}  // namespace

void Euler::declareParameters(ParameterTable& table) const {
  table.real("gamma").doc("ratio of specific heats").above(1).atMost(10).defaultsTo(1.4);
  table.choice("slopes", {"constant", "none", "minmod", "vanleer", "mc"})
      .doc("how the slopes in cells are limited; \"constant\": first order, \"none\": not at all")
      .defaultsTo("mc");
  table.boolean("characteristic")
      .doc("limits sound and what the flow carries apart, in place of density, velocity and pressure")
      .defaultsTo(false);
  table.choice("riemann", {"hllc", "hll"}).doc("the flux between two states").defaultsTo("hllc");
  table.real("strong_shock")
      .doc(
          "where one pressure beside a face is more than this many times the other and the gas runs "
          "together, "
          "\"hllc\" gives way to \"hll\"")
      .above(1)
      .defaultsTo(10.0);
  table.choice("stages", {"rk2", "rk3"})
      .doc("strong-stability-preserving Runge-Kutta method of two or three stages")
      .defaultsTo("rk2");
  table.realVector("gravity", 3).doc("acceleration").unit("length/time^2").defaultsTo({0.0, 0.0, 0.0});
  table.textList("sources")
      .doc(
          "variables of other components that are sources of energy, per volume and time, each with a sign "
          "or factor: \"-rmcrt.divQ\"")
      .optional();
  table.real("gas_constant")
      .doc("of a unit of mass; where it is given, euler.temperature is kept: pressure / (density * this)")
      .unit("energy/(mass temperature)")
      .above(0)
      .optional();
  table.real("floor.density").doc("cells below it are set to it; 0: none").atLeast(0).defaultsTo(0);
  table.real("floor.pressure").doc("cells below it are set to it; 0: none").atLeast(0).defaultsTo(0);
  table.integer("initial.points")
      .doc("Gauss points along each axis for the mean of a cell at the start")
      .range(1, 8)
      .defaultsTo(2);
  declareGasState(table, "initial.", {"x", "y", "z"});
  ParameterTable& scalar = table.arrayOf("scalar", "something that the gas carries along");
  scalar.text("name").doc("its name in files").required();
  scalar.expression("initial", {"x", "y", "z"})
      .doc("how much of it a unit of mass has at the start")
      .required();
  scalar.expression("inflow").doc("how much of it a unit of mass has that enters").defaultsTo(0);
  table.expression("solid", {"x", "y", "z"})
      .doc("where it is not 0 at the centre of a cell, the cell is solid, with walls without friction")
      .optional();
  table.check(checkScalars);
  table.check([](const ParameterValues& values, DeckDiagnostics& findings) {
    checkAddedSources(values, "sources", findings);
  });
  declareGasBoundaries(table);
}

void Euler::configure(const ParameterValues& values, ComponentSetup& setup) {
  if (setup.cfl > 1.0) {
    std::ostringstream text;
    text << "time.cfl is " << setup.cfl << ", and euler is unstable above 1; give 1 or less (0.8 is usual)";
    DeckDiagnostics findings;
    findings.error(setup.cflWhere, text.str());
    findings.throwIfErrors();
  }
  configureMethod(values, setup);
  configureVariables(values, setup);
}

void Euler::configureMethod(const ParameterValues& values, const ComponentSetup& setup) {
  params_.solver.gas.gamma = values.real("gamma");
  params_.solver.jump = values.choice("riemann") == "hll" ? 0.0 : values.real("strong_shock");
  params_.limiter = limiterOf(values.choice("slopes"));
  characteristic_ = values.boolean("characteristic");
  params_.gravity = values.vector3("gravity");
  params_.leastDensity = values.real("floor.density");
  params_.leastPressure = values.real("floor.pressure");
  for (int d = 0; d < kAxes; ++d) params_.active[static_cast<std::size_t>(d)] = setup.geometry.active(d);
  points_ = static_cast<int>(values.integer("initial.points"));
  stages_.resize(values.choice("stages") == "rk3" ? 2 : 1);
}

void Euler::configureVariables(const ParameterValues& values, ComponentSetup& setup) {
  std::vector<ComponentInfo> infos{{"density", "mass/length^3"},
                                   {"momentum_x", "mass/(length^2 time)", 0},
                                   {"momentum_y", "mass/(length^2 time)", 1},
                                   {"momentum_z", "mass/(length^2 time)", 2},
                                   {"energy", "energy/length^3"}};
  initial_ = readGasState(values, "initial.", params_.solver.gas.gamma);
  std::vector<Expression> inflow;
  for (const ParameterValues& scalar : values.tables("scalar")) {
    infos.push_back({scalar.text("name"), "1/length^3"});
    initial_.push_back(Expression::ofParts("$0*$1", std::array{initial_[0], scalar.expression("initial")}));
    inflow.push_back(scalar.expression("inflow"));
    ++params_.scalars;
  }
  const std::vector<BoundaryConditions> boundaries =
      readGasBoundaries(values, setup.geometry, params_.solver.gas.gamma, inflow);
  setup.composed.insert(setup.composed.end(), initial_.begin(), initial_.end());
  gas_ = setup.labels.components<double, Cell>("gas", infos);
  setup.labels.setBoundary(gas_, boundaries);
  for (std::size_t n = 0; n < stages_.size(); ++n) {
    stages_[n] = setup.labels.components<double, Cell>("euler.stage_" + std::to_string(n + 1), infos);
    setup.labels.setBoundary(stages_[n], boundaries);
    setup.labels.approximates(stages_[n], gas_, n == 0 ? 1.0 : 0.5);
  }
  fluxes_.x = setup.labels.components<double, FaceX>("euler.flux_x", infos);
  fluxes_.y = setup.labels.components<double, FaceY>("euler.flux_y", infos);
  fluxes_.z = setup.labels.components<double, FaceZ>("euler.flux_z", infos);
  configureLevels(setup, infos);
  stableDt_ = setup.stableDt;
  levels_ = setup.levels;
  averagesStages_ = setup.averagesStages();
  for (std::size_t n = 0; n < kNumbers.size(); ++n)
    totals_.sums[n] = setup.labels.reduction(std::string("euler.") + kNumbers[n]);
  totals_.leastDensity = setup.labels.reduction("euler.min_density");
  totals_.leastPressure = setup.labels.reduction("euler.min_pressure");
  totals_.largestMach = setup.labels.reduction("euler.max_mach");
  notes_.counts = params_.leastDensity > 0.0 || params_.leastPressure > 0.0;
  notes_.watches = setup.retries > 0;
  if (notes_.counts) {
    notes_.floored = setup.labels.variable<double, Cell>("euler.floored", "1");
    totals_.floored = setup.labels.reduction("euler.floored");
  }
  if (values.has("solid")) {
    solid_ = values.expression("solid");
    params_.hasSolids = true;
    params_.solid = setup.labels.variable<double, Cell>("euler.solid", "1");
    setup.labels.setBoundary(params_.solid, BoundaryConditions::everywhere(BoundaryKind::Neumann));
  }
  if (notes_.watches) notes_.failed = setup.labels.reduction("euler.failed");
  sources_ = readAddedSources(values, "sources", setup.labels);
  if (!values.has("gas_constant")) return;
  gasConstant_ = values.real("gas_constant");
  temperature_ = setup.labels.variable<double, Cell>("euler.temperature", "temperature");
  setup.labels.setBoundary(*temperature_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
}

void Euler::configureLevels(ComponentSetup& setup, const std::vector<ComponentInfo>& infos) {
  const Prolongation prolongation = setup.prolongation.value_or(Prolongation::LimitedLinear);
  setup.labels.setProlongation(gas_, prolongation);
  for (const GasLabel stage : stages_) setup.labels.setProlongation(stage, prolongation);
  params_.keepsFluxes = setup.keepsFluxes();
  if (params_.keepsFluxes) passed_ = passedLabels(setup, "euler.passed", infos);
}

void Euler::declareInitial(StepPlan& plan) const {
  plan.task("Euler::initial").writes(gas_).runs<Cpu>([u = gas_, f = initial_, n = points_](const auto& task) {
    const auto field = task.write(u);
    for (std::size_t c = 0; c < f.size(); ++c) {
      const auto one = field[static_cast<std::int32_t>(c)];
      forEachMean(f[c], task.level(), task.interior(), task.time(), n,
                  [&](Index x, double value) { one(x) = value; });
    }
  });
  if (levels_ > 1) averageDown(plan, "Euler::averageDown", gas_);
  if (notes_.counts) {
    plan.task("Euler::noneFloored")
        .writes(notes_.floored)
        .withoutDt()
        .runs<Cpu>([n = notes_.floored](const auto& task) {
          const auto count = task.write(n);
          forEach(task.exec(), "Euler::noneFloored", task.interior(), [=](Index x) { count(x) = 0.0; });
        });
  }
  declareSolids(plan);
  declareTemperature(plan);
  declareStableDt(plan, New);
}

void Euler::declareRegrid(StepPlan& plan) const {
  declareSolids(plan);
  declareTemperature(plan);
  declareStableDt(plan, New);
}

void Euler::declareSolids(StepPlan& plan) const {
  if (!params_.hasSolids) return;
  plan.task("Euler::solid")
      .writes(params_.solid)
      .withoutDt()
      .runs<Cpu>(
          [label = params_.solid, f = *solid_](const auto& task) { fill(task, label, f, task.time()); });
}

void Euler::declareTemperature(StepPlan& plan) const {
  if (!temperature_) return;
  plan.task("Euler::temperature")
      .reads(New, gas_)
      .writes(*temperature_)
      .withoutDt()
      .runs(temperatureOfGas(params_, gas_, *temperature_, gasConstant_));
}

void Euler::declareStep(StepPlan& step) const {
  if (stages_.size() == 1) {
    declareStage(step, 1, {gas_, Old, stages_[0], 0.0, 1.0, 0.5, passed_, sources_});
    declareStage(step, 2, {stages_[0], New, gas_, 0.5, 0.5, 0.5, passed_, sources_});
  } else {
    declareStage(step, 1, {gas_, Old, stages_[0], 0.0, 1.0, 1.0 / 6.0, passed_, sources_});
    declareStage(step, 2, {stages_[0], New, stages_[1], 0.75, 0.25, 1.0 / 6.0, passed_, sources_});
    declareStage(step, 3, {stages_[1], New, gas_, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, passed_, sources_});
  }
  declareTemperature(step);
  declareStableDt(step, Old);
}

void Euler::declareStage(StepPlan& step, int number, const EulerStage& stage) const {
  const std::string name = "Euler::stage" + std::to_string(number);
  const std::string before = number == 1 ? "" : "Euler::stage" + std::to_string(number - 1);
  TaskBuilder task = step.task(name);
  task.reads(stage.generation, stage.from, faceHalo(2)).writes(stage.to);
  if (stage.generation != Old) task.reads(Old, gas_);
  if (params_.active[0]) task.scratch(fluxes_.x);
  if (params_.active[1]) task.scratch(fluxes_.y);
  if (params_.active[2]) task.scratch(fluxes_.z);
  if (notes_.counts && stage.generation == Old) task.reads(Old, notes_.floored).writes(notes_.floored);
  if (notes_.counts && stage.generation != Old) task.modifies(notes_.floored, from(before));
  if (notes_.watches) task.contributes(notes_.failed, Min);
  if (params_.keepsFluxes) writePassed(task, passed_, before);
  if (params_.hasSolids) task.reads(Old, params_.solid, faceHalo(2));
  for (const AddedSource& source : stage.sources) task.reads(Old, source.label);
  task.runs(characteristic_ ? characteristicStageOfEuler(params_, stage, gas_, fluxes_, notes_)
                            : stageOfEuler(params_, stage, gas_, fluxes_, notes_));
  if (levels_ == 1) return;
  const bool isLast = stage.to.id == gas_.id;
  if (isLast && params_.keepsFluxes) refluxes(step, "Euler::reflux", gas_, passed_, name);
  if (!isLast && !averagesStages_) return;
  averageDown(step, "Euler::averageStage" + std::to_string(number), stage.to,
              isLast && params_.keepsFluxes ? "Euler::reflux" : "");
}

void Euler::declareStableDt(StepPlan& plan, Generation solids) const {
  TaskBuilder task = plan.task("Euler::stableDt");
  task.reads(New, gas_).contributes(stableDt_, Min);
  if (params_.hasSolids) task.reads(solids, params_.solid);
  task.runs(stableEulerDt(params_, gas_, stableDt_, solids));
}

void Euler::declareDiagnostics(StepPlan& plan) const {
  TaskBuilder task = plan.task("Euler::totals");
  task.reads(Old, gas_);
  if (notes_.counts) task.reads(Old, notes_.floored).contributes(totals_.floored, Sum);
  if (params_.hasSolids) task.reads(Old, params_.solid);
  for (const ReductionLabel& sum : totals_.sums) task.contributes(sum, Sum);
  task.contributes(totals_.leastDensity, Min)
      .contributes(totals_.leastPressure, Min)
      .contributes(totals_.largestMach, Max)
      .runs(totalsOfEuler(params_, gas_, totals_, notes_));
}

std::vector<Diagnostic> Euler::diagnostics() const {
  std::vector<Diagnostic> columns;
  for (std::size_t n = 0; n < kNumbers.size(); ++n)
    columns.push_back({std::string("euler.") + kNumbers[n], totals_.sums[n], {}});
  columns.push_back({"euler.min_density", totals_.leastDensity, {}});
  columns.push_back({"euler.min_pressure", totals_.leastPressure, {}});
  columns.push_back({"euler.max_mach", totals_.largestMach, {}});
  if (notes_.counts) columns.push_back({"euler.floored", totals_.floored, {}});
  return columns;
}

std::vector<StepProgram> Euler::stepPrograms() const {
  if (!notes_.watches) return {};
  StepProgram program("step");
  program.run("euler");
  program.require(
      "the gas has a density or a pressure that is not above 0, in",
      [failed = notes_.failed](const ReducedNumbers& found) { return std::isinf(found(failed)); },
      [failed = notes_.failed](const ReducedNumbers& found, const Hierarchy& hierarchy) {
        return cellOfCode(hierarchy, found(failed));
      });
  return {program};
}

}  // namespace tessera
