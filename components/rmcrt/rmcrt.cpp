#include "components/rmcrt/rmcrt.hpp"

#include <initializer_list>
#include <utility>

#include "components/average_down_kernels.hpp"
#include "components/cadence.hpp"
#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

constexpr double kStefanBoltzmann = 5.670374419e-8;  // CODATA 2018, W/(m^2 K^4)

double intensityOf(double temperature, double stefanBoltzmann) {
  return intensityOfFourthPower(stefanBoltzmann) * fourthPower(temperature);
}

void checkNames(const ParameterValues& values, DeckDiagnostics& findings) {
  for (const char* key : {"absorption_from", "temperature_from", "emissive_power_from"}) {
    if (!values.has(key) || isLabelName(values.text(key))) continue;
    findings.error(values.where(key), "rmcrt." + std::string(key) + " has \"" + values.text(key) +
                                          "\", which no variable can be called; give the name of a "
                                          "variable such as \"heat.T\"");
  }
}

/// Keys of which just one says what radiates, or how much is absorbed.
void checkSources(const ParameterValues& values, DeckDiagnostics& findings) {
  const auto expectOne = [&](std::initializer_list<const char*> keys, const std::string& what) {
    std::string given;
    std::string all;
    int count = 0;
    for (const char* key : keys) {
      all += (all.empty() ? "" : ", ") + std::string(key);
      if (!values.isGiven(key)) continue;
      given += (count++ > 0 ? " and " : "") + std::string(key);
    }
    if (count == 0)
      findings.error(values.tableWhere(), "[rmcrt] does not say " + what + "; give one of " + all);
    if (count > 1)
      findings.error(values.tableWhere(),
                     "[rmcrt] says more than once " + what + ": " + given + "; give one");
  };
  expectOne({"temperature", "temperature_from", "emissive_power", "emissive_power_from"}, "what radiates");
  expectOne({"absorption", "absorption_from"}, "what absorbs");
}

void declareSurface(ParameterTable& table, const std::string& prefix, const std::string& what) {
  table.real(prefix + "temperature").doc("temperature of " + what).unit("temperature").atLeast(0).optional();
  table.real(prefix + "emissivity")
      .doc("part of a black body's that " + what + " sends")
      .range(0, 1)
      .optional();
  table.real(prefix + "mirror")
      .doc("part of what " + what +
           " reflects that leaves as from a mirror; the rest leaves in any direction")
      .range(0, 1)
      .optional();
}

/// A surface whose own keys come before those of `all` surfaces, where there are such.
RaySurface readSurface(const ParameterValues& values, const std::string& own, const std::string& all,
                       double stefanBoltzmann) {
  const auto number = [&](const std::string& key, double usual) {
    if (values.has(own + key)) return values.real(own + key);
    return values.has(all + key) ? values.real(all + key) : usual;
  };
  return {intensityOf(number("temperature", 0.0), stefanBoltzmann), number("emissivity", 1.0),
          number("mirror", 0.0)};
}

}  // namespace

void Rmcrt::declareParameters(ParameterTable& table) const {
  table.expression("absorption", {"x", "y", "z"})
      .doc("absorption coefficient")
      .unit("1/length")
      .atLeast(0)
      .defaultsTo(0);
  table.text("absorption_from").doc("name of the variable that is the absorption coefficient").optional();
  table.expression("temperature", {"x", "y", "z"}).doc("temperature of the medium").atLeast(0).optional();
  table.text("temperature_from").doc("name of the variable that is the temperature of the medium").optional();
  table.expression("emissive_power", {"x", "y", "z"})
      .doc("power that a unit of area of a black body sends that is as hot as the medium")
      .unit("power/length^2")
      .atLeast(0)
      .optional();
  table.text("emissive_power_from").doc("name of the variable that is the emissive power").optional();
  table.real("stefan_boltzmann")
      .doc("the constant that T^4 is multiplied by")
      .above(0)
      .defaultsTo(kStefanBoltzmann);
  table.integer("rays").doc("rays from each cell").range(1, 1 << 30).defaultsTo(100);
  table.integer("wall_rays")
      .doc("rays from each face of a wall; 0: no fluxes on walls; what rays says where it is not given")
      .range(0, 1 << 30)
      .optional();
  table.real("threshold")
      .doc("a ray ends where less than this part comes through")
      .above(0)
      .atMost(0.5)
      .defaultsTo(1e-4);
  table.choice("directions", {"uniform", "stratified"})
      .doc("how directions are drawn; \"stratified\": evenly spread over those of a cell")
      .defaultsTo("uniform");
  table.choice("origins", {"spread", "centre"}).doc("where in a cell its rays start").defaultsTo("spread");
  table.integer("seed").doc("another one gives other random numbers").range(0, 0xffffffff).defaultsTo(0);
  declareCadence(table, "radiation is computed");
  table.integer("halo")
      .doc("fine cells around a patch that rays pass before they go on in the coarsest level")
      .range(0, 64)
      .defaultsTo(4);
  declareSurface(table, "wall.", "all walls");
  for (int side = 0; side < kSides; ++side)
    declareSurface(table, std::string("wall.") + sideName(side) + ".",
                   std::string("the wall ") + sideName(side));
  table.expression("solid.where", {"x", "y", "z"})
      .doc("where it is not 0 at the centre of a cell, the cell is solid")
      .optional();
  declareSurface(table, "solid.", "solid cells");
  table.check(checkSources);
  table.check(checkNames);
}

void Rmcrt::configure(const ParameterValues& values, ComponentSetup& setup) {
  DeckDiagnostics findings;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!setup.geometry.active(axis) || !setup.geometry.periodic[static_cast<std::size_t>(axis)]) continue;
    findings.error(
        values.tableWhere(),
        std::string("rmcrt follows rays until they meet a wall, and the ") + "xyz"[axis] +
            " axis is periodic; give grid.periodic false along it (a wall with emissivity 0 and mirror 1 "
            "stands for what goes on alike)");
  }
  findings.throwIfErrors();
  levels_ = setup.levels;
  every_ = cadenceOf(values);
  configureMedium(values, setup);
  configureRays(values);
  labels_.medium = setup.labels.variable<MediumCell<double>, Cell>("rmcrt.medium");
  setup.labels.setBoundary(labels_.medium, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  labels_.divQ = setup.labels.variable<double, Cell>("rmcrt.divQ", "power/length^3");
  setup.labels.setBoundary(labels_.divQ, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  totals_.loss = setup.labels.reduction("rmcrt.loss");
  if (rays_.wallRays == 0) return;
  labels_.flux.x = setup.labels.variable<double, FaceX>("rmcrt.flux_x", "power/length^2");
  labels_.flux.y = setup.labels.variable<double, FaceY>("rmcrt.flux_y", "power/length^2");
  labels_.flux.z = setup.labels.variable<double, FaceZ>("rmcrt.flux_z", "power/length^2");
  for (int side = 0; side < kSides; ++side)
    totals_.walls[static_cast<std::size_t>(side)] =
        setup.labels.reduction(std::string("rmcrt.wall_") + sideName(side));
}

RadiationInput Rmcrt::input(const ParameterValues& values, const std::string& key, ComponentSetup& setup) {
  if (values.has(key + "_from"))
    return {setup.labels.variable<double, Cell>(values.text(key + "_from")), 0.0};
  const Expression& expression = values.expression(key);
  if (expression.isConstant()) return {std::nullopt, expression(0, 0, 0, 0)};
  const Label<double, Cell> label = setup.labels.variable<double, Cell>("rmcrt." + key);
  given_.push_back({key, label, expression});
  return {label, 0.0};
}

void Rmcrt::configureMedium(const ParameterValues& values, ComponentSetup& setup) {
  medium_.stefanBoltzmann = values.real("stefan_boltzmann");
  medium_.absorption = input(values, "absorption", setup);
  medium_.isTemperature = !values.has("emissive_power") && !values.has("emissive_power_from");
  medium_.heat = input(values, medium_.isTemperature ? "temperature" : "emissive_power", setup);
  if (!values.has("solid.where")) return;
  medium_.solid = setup.labels.variable<double, Cell>("rmcrt.solid", "1");
  given_.push_back({"solid", *medium_.solid, values.expression("solid.where")});
  const RaySurface solid = readSurface(values, "solid.", "wall.", medium_.stefanBoltzmann);
  medium_.solidIntensity = solid.intensity;
  medium_.solidEmissivity = solid.emissivity;
  rays_.mirroredOfSolids = solid.mirrored;
}

void Rmcrt::configureRays(const ParameterValues& values) {
  rays_.rays = static_cast<std::uint32_t>(values.integer("rays"));
  rays_.wallRays =
      values.has("wall_rays") ? static_cast<std::uint32_t>(values.integer("wall_rays")) : rays_.rays;
  rays_.fromCentre = values.choice("origins") == "centre";
  rays_.stratified = values.choice("directions") == "stratified";
  rays_.halo = values.integer("halo");
  rays_.seed = static_cast<std::uint32_t>(values.integer("seed"));
  rays_.threshold = values.real("threshold");
  for (int side = 0; side < kSides; ++side) {
    rays_.sides[static_cast<std::size_t>(side)] =
        readSurface(values, std::string("wall.") + sideName(side) + ".", "wall.", medium_.stefanBoltzmann);
  }
}

void Rmcrt::declareInitial(StepPlan& plan) const {
  for (const Given& given : given_) {
    plan.task("Rmcrt::" + given.name).writes(given.label).withoutDt().runs<Cpu>([given](const auto& task) {
      fill(task, given.label, given.values, task.time());
    });
  }
  TaskBuilder none = plan.task("Rmcrt::noneYet");
  none.writes(labels_.divQ).withoutDt();
  if (rays_.wallRays > 0) none.writes(labels_.flux.x).writes(labels_.flux.y).writes(labels_.flux.z);
  none.runs<Cpu>([l = labels_, walls = rays_.wallRays > 0](const auto& task) {
    const auto clear = [&](auto label) {
      const auto values = task.write(label);
      forEach(task.exec(), "Rmcrt::noneYet", task.interior(label), [=](Index x) { values(x) = 0.0; });
    };
    clear(l.divQ);
    if (!walls) return;
    clear(l.flux.x);
    clear(l.flux.y);
    clear(l.flux.z);
  });
}

TaskBuilder Rmcrt::radiationTask(StepPlan& step, std::string_view name) const {
  TaskBuilder task = step.task(name);
  task.withoutDt();
  if (!everyStep()) task.in("radiation");
  return task;
}

void Rmcrt::declareStep(StepPlan& step) const {
  TaskBuilder pack = radiationTask(step, "Rmcrt::pack");
  pack.writes(labels_.medium);
  for (const auto& label : {medium_.absorption.label, medium_.heat.label, medium_.solid}) {
    if (label) pack.reads(Old, *label);
  }
  pack.runs(packMedium(medium_, labels_.medium));
  if (levels_ > 1) {
    radiationTask(step, "Rmcrt::coarsen")
        .on(allButFinest())
        .reads(New, labels_.medium, fromFiner())
        .modifies(labels_.medium)
        .runs(coarsenMedium(labels_.medium));
  }
  TaskBuilder trace = radiationTask(step, "Rmcrt::trace");
  trace.on(onlyLevel(0)).reads(New, labels_.medium, wholeLevel(0));
  declareTrace(trace);
  if (levels_ == 1) return;
  TaskBuilder fine = radiationTask(step, "Rmcrt::traceFine");
  fine.on(allButCoarsest())
      .reads(New, labels_.medium, halo(rays_.halo))
      .reads(New, labels_.medium, wholeLevel(0));
  declareTrace(fine);
  radiationTask(step, "Rmcrt::averageDown")
      .on(allButFinest())
      .reads(New, labels_.divQ, fromFiner())
      .modifies(labels_.divQ)
      .runs(meanOfFiner(labels_.divQ));
}

void Rmcrt::declareTrace(TaskBuilder task) const {
  task.writes(labels_.divQ);
  if (rays_.wallRays > 0) task.writes(labels_.flux.x).writes(labels_.flux.y).writes(labels_.flux.z);
  task.runs(traceRays(rays_, labels_));
}

std::vector<OptionalPart> Rmcrt::stepParts() const {
  if (everyStep()) return {};
  return {{"radiation", every_}};
}

void Rmcrt::declareDiagnostics(StepPlan& plan) const {
  TaskBuilder task = plan.task("Rmcrt::totals");
  task.reads(Old, labels_.divQ).contributes(totals_.loss, Sum);
  if (rays_.wallRays > 0) {
    task.reads(Old, labels_.flux.x).reads(Old, labels_.flux.y).reads(Old, labels_.flux.z);
    for (const ReductionLabel& wall : totals_.walls) task.contributes(wall, Sum);
  }
  task.runs(totalsOfRadiation(rays_, labels_, totals_));
}

std::vector<Diagnostic> Rmcrt::diagnostics() const {
  std::vector<Diagnostic> columns{{"rmcrt.loss", totals_.loss, {}}};
  if (rays_.wallRays == 0) return columns;
  for (int side = 0; side < kSides; ++side)
    columns.push_back(
        {std::string("rmcrt.wall_") + sideName(side), totals_.walls[static_cast<std::size_t>(side)], {}});
  return columns;
}

}  // namespace tessera
