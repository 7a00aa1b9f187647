#include "components/rmcrt/rmcrt.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "components/average_down_kernels.hpp"
#include "components/cadence.hpp"
#include "components/expression_fill.hpp"
#include "components/rmcrt/radiometer_deck.hpp"
#include "components/rmcrt/rmcrt_parameters.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

/// A solid, whose own keys come before those of all walls, where there are such.
RaySurface readSolid(const ParameterValues& values, double stefanBoltzmann) {
  const auto number = [&](const std::string& key, double usual) {
    if (values.has("solid." + key)) return values.real("solid." + key);
    if (!values.has("wall." + key)) return usual;
    if (key == "mirror") return values.real("wall.mirror");
    const Expression& wall = values.expression("wall." + key);
    if (wall.isConstant()) return wall(0, 0, 0, 0);
    DeckDiagnostics findings;
    findings.error(values.where("wall." + key),
                   "rmcrt.wall." + key + " varies, so solid cells cannot have it; give rmcrt.solid." + key);
    findings.throwIfErrors();
    return usual;
  };
  return {intensityOf(number("temperature", 0.0), stefanBoltzmann), number("emissivity", 1.0),
          number("mirror", 0.0)};
}

template <class T>
Label<T, Cell> cellLabel(ComponentSetup& setup, std::string_view name, std::string_view unit = "") {
  const auto label = setup.labels.variable<T, Cell>(name, unit);
  setup.labels.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  return label;
}

MediumLabel mediumLabel(bool isFloat, bool scatters, ComponentSetup& setup) {
  if (isFloat && scatters) return cellLabel<MediumCell<float, 3>>(setup, "rmcrt.medium");
  if (isFloat) return cellLabel<MediumCell<float>>(setup, "rmcrt.medium");
  if (scatters) return cellLabel<MediumCell<double, 3>>(setup, "rmcrt.medium");
  return cellLabel<MediumCell<double>>(setup, "rmcrt.medium");
}

/// Calls `visit` with each variable that radiation leaves.
template <class Visit>
void forEachResult(const RadiationLabels& labels, bool hasWalls, Visit&& visit) {
  visit(labels.divQ);
  if (labels.incident) visit(*labels.incident);
  if (!hasWalls) return;
  visit(labels.flux.x);
  visit(labels.flux.y);
  visit(labels.flux.z);
}

/// Before the first radiation radiometers stand in something solid, so they read 0.
template <class Medium>
void declareNoMedium(StepPlan& plan, Label<Medium, Cell> medium) {
  plan.task("Rmcrt::noMedium").writes(medium).withoutDt().template runs<Cpu>([medium](const auto& task) {
    Medium solid{};
    solid[0] = static_cast<typename MediumTraits<Medium>::Real>(solidCode(1.0));
    const auto values = task.write(medium);
    forEach(task.exec(), "Rmcrt::noMedium", task.interior(), [=](Index x) { values(x) = solid; });
  });
}

}  // namespace

void Rmcrt::declareParameters(ParameterTable& table) const { declareRmcrtParameters(table); }

void Rmcrt::configure(const ParameterValues& values, ComponentSetup& setup) {
  DeckDiagnostics findings;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!setup.geometry.active(axis) || !setup.geometry.periodic[static_cast<std::size_t>(axis)]) continue;
    findings.error(values.tableWhere(),
                   std::string("rmcrt follows rays until they meet a wall, and the ") + "xyz"[axis] +
                       " axis is periodic; give grid.periodic false along it (a wall with "
                       "emissivity 0 and mirror 1 "
                       "stands for what goes on alike)");
  }
  findings.throwIfErrors();
  levels_ = setup.levels;
  every_ = cadenceOf(values);
  configureMedium(values, setup);
  configureRays(values, setup);
  labels_.medium = mediumLabel(values.choice("precision") == "float", medium_.scattering.has_value(), setup);
  labels_.divQ = cellLabel<double>(setup, "rmcrt.divQ", "power/length^3");
  if (values.boolean("incident"))
    labels_.incident = cellLabel<double>(setup, "rmcrt.incident", "power/length^2");
  radiometers_ = radiometersOf(values, setup);
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
  const bool scatters = values.has("scattering_from") ||
                        (values.has("scattering") && !(values.expression("scattering").isConstant() &&
                                                       values.expression("scattering")(0, 0, 0, 0) == 0.0));
  if (scatters) medium_.scattering = input(values, "scattering", setup);
  medium_.isTemperature = !values.has("emissive_power") && !values.has("emissive_power_from");
  medium_.heat = input(values, medium_.isTemperature ? "temperature" : "emissive_power", setup);
  if (!values.has("solid.where")) return;
  medium_.solid = setup.labels.variable<double, Cell>("rmcrt.solid", "1");
  given_.push_back({"solid", *medium_.solid, values.expression("solid.where")});
  const RaySurface solid = readSolid(values, medium_.stefanBoltzmann);
  medium_.solidIntensity = solid.intensity;
  medium_.solidEmissivity = solid.emissivity;
  rays_.mirroredOfSolids = solid.mirrored;
}

void Rmcrt::configureRays(const ParameterValues& values, ComponentSetup& setup) {
  rays_.rays = static_cast<std::uint32_t>(values.integer("rays"));
  rays_.wallRays =
      values.has("wall_rays") ? static_cast<std::uint32_t>(values.integer("wall_rays")) : rays_.rays;
  rays_.fromCentre = values.choice("origins") == "centre";
  rays_.stratified = values.choice("directions") == "stratified";
  rays_.halo = values.integer("halo");
  if (values.has("middle_halo")) rays_.middleHalo = values.integer("middle_halo");
  rays_.seed = static_cast<std::uint32_t>(values.integer("seed"));
  rays_.threshold = values.real("threshold");
  rays_.walls = wallsOf(values, medium_.stefanBoltzmann, setup);
}

void Rmcrt::declareInitial(StepPlan& plan) const {
  for (const Given& given : given_) {
    plan.task("Rmcrt::" + given.name).writes(given.label).withoutDt().runs<Cpu>([given](const auto& task) {
      fill(task, given.label, given.values, task.time());
    });
  }
  if (!radiometers_.empty()) std::visit([&](auto medium) { declareNoMedium(plan, medium); }, labels_.medium);
  TaskBuilder none = plan.task("Rmcrt::noneYet");
  none.withoutDt();
  forEachResult(labels_, rays_.wallRays > 0, [&](auto label) { none.writes(label); });
  none.runs<Cpu>([l = labels_, walls = rays_.wallRays > 0](const auto& task) {
    forEachResult(l, walls, [&](auto label) {
      const auto values = task.write(label);
      forEach(task.exec(), "Rmcrt::noneYet", task.interior(label), [=](Index x) { values(x) = 0.0; });
    });
  });
}

TaskBuilder Rmcrt::radiationTask(StepPlan& step, std::string_view name) const {
  TaskBuilder task = step.task(name);
  task.withoutDt();
  task.in("radiation");
  return task;
}

void Rmcrt::declareStep(StepPlan& step) const {
  std::visit([&](auto medium) { declareRadiation(step, medium); }, labels_.medium);
  if (levels_ == 1) return;
  declareAverage(step, "Rmcrt::averageDown", labels_.divQ);
  if (labels_.incident) declareAverage(step, "Rmcrt::averageIncident", *labels_.incident);
}

/// What packing reads.
TaskBuilder Rmcrt::declareInputs(TaskBuilder task) const {
  const auto scattering = medium_.scattering ? medium_.scattering->label : std::nullopt;
  for (const auto& label : {medium_.absorption.label, scattering, medium_.heat.label, medium_.solid}) {
    if (label) task.reads(Old, *label);
  }
  return task;
}

template <class Medium>
void Rmcrt::declareRadiation(StepPlan& step, Label<Medium, Cell> medium) const {
  declareInputs(radiationTask(step, "Rmcrt::pack").on(finestLevel()))
      .writes(medium)
      .runs(packMedium(medium_, medium));
  if (levels_ > 1) {
    declareInputs(radiationTask(step, "Rmcrt::packCoarse").on(allButFinest()))
        .reads(New, medium, fromFiner())
        .writes(medium)
        .runs(packCoarseMedium(medium_, medium));
  }
  forEachKindOfLevel([&](const KindOfLevel& kind) {
    TaskBuilder trace = radiationTask(step, "Rmcrt::trace" + kind.suffix);
    declareMediumReads(trace, New, medium, kind);
    forEachResult(labels_, rays_.wallRays > 0, [&](auto label) { trace.writes(label); });
    trace.runs(traceRays(medium, rays_, labels_));
  });
}

/// Calls `declare` with the levels whose rays need the same regions.
template <class Declare>
void Rmcrt::forEachKindOfLevel(Declare&& declare) const {
  declare(KindOfLevel{"", onlyLevel(0), 0});
  if (levels_ == 1) return;
  if (!rays_.middleHalo) return declare(KindOfLevel{"Fine", allButCoarsest(), 1});
  for (LevelId level = 1; level < levels_; ++level) {
    const std::string suffix = level == 1 ? "Fine" : (level == 2 ? "Finer" : "Level" + std::to_string(level));
    declare(KindOfLevel{suffix, onlyLevel(level), level});
  }
}

/// What `rayTracer` takes.
template <class Medium>
void Rmcrt::declareMediumReads(TaskBuilder& task, Generation generation, Label<Medium, Cell> medium,
                               const KindOfLevel& kind) const {
  task.on(kind.levels).reads(generation, medium, wholeLevel(0)).reads(rays_.walls.table);
  if (kind.number == 0) return;
  task.reads(generation, medium, halo(rays_.halo));
  if (!rays_.middleHalo || kind.number == 1) return;
  task.reads(generation, medium, fromCoarser(*rays_.middleHalo));
  if (kind.number > 2) task.reads(generation, medium, wholeLevel(kind.number - 2));
}

void Rmcrt::declareAverage(StepPlan& step, std::string_view name, Label<double, Cell> label) const {
  radiationTask(step, name)
      .on(allButFinest())
      .reads(New, label, fromFiner())
      .modifies(label)
      .runs(meanOfFiner(label));
}

std::vector<OptionalPart> Rmcrt::stepParts() const { return {{"radiation", every_}}; }

/// Totals read all that radiation leaves, what they do not sum too, so that steps without radiation keep it.
void Rmcrt::declareDiagnostics(StepPlan& plan) const {
  const bool hasWalls = rays_.wallRays > 0;
  TaskBuilder task = plan.task("Rmcrt::totals");
  forEachResult(labels_, hasWalls, [&](auto label) { task.reads(Old, label); });
  task.contributes(totals_.loss, Sum);
  if (hasWalls) {
    for (const ReductionLabel& wall : totals_.walls) task.contributes(wall, Sum);
  }
  task.runs(totalsOfRadiation(rays_, labels_, totals_));
  if (radiometers_.empty()) return;
  std::visit([&](auto medium) { declareRadiometers(plan, medium); }, labels_.medium);
}

template <class Medium>
void Rmcrt::declareRadiometers(StepPlan& plan, Label<Medium, Cell> medium) const {
  forEachKindOfLevel([&](const KindOfLevel& kind) {
    TaskBuilder task = plan.task("Rmcrt::radiometers" + kind.suffix);
    declareMediumReads(task, Old, medium, kind);
    for (const Radiometer& radiometer : radiometers_) task.contributes(radiometer.reading, Sum);
    task.runs(readRadiometers(medium, rays_, radiometers_));
  });
}

std::vector<Diagnostic> Rmcrt::diagnostics() const {
  std::vector<Diagnostic> columns{{.name = "rmcrt.loss", .reduction = totals_.loss, .unit = "power"}};
  for (const Radiometer& radiometer : radiometers_)
    columns.push_back({.name = "rmcrt.radiometer_" + radiometer.name,
                       .reduction = radiometer.reading,
                       .unit = "power/length^2"});
  if (rays_.wallRays == 0) return columns;
  for (int side = 0; side < kSides; ++side)
    columns.push_back({.name = std::string("rmcrt.wall_") + sideName(side),
                       .reduction = totals_.walls[static_cast<std::size_t>(side)],
                       .unit = "power"});
  return columns;
}

}  // namespace tessera
