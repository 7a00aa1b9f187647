#include "components/rmcrt/rmcrt.hpp"

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "components/average_down_kernels.hpp"
#include "components/cadence.hpp"
#include "components/expression_fill.hpp"
#include "components/rmcrt/boxes/box_deck.hpp"
#include "components/rmcrt/radiometers/radiometer_deck.hpp"
#include "components/rmcrt/rmcrt_parameters.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

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
  if (labels.divQ) visit(*labels.divQ);
  if (labels.incident) visit(*labels.incident);
  for (const RayBox& box : labels.boxes) visit(box.power);
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
  if (rays_.rays > 0) labels_.divQ = cellLabel<double>(setup, "rmcrt.divQ", "power/length^3");
  if (values.boolean("incident"))
    labels_.incident = cellLabel<double>(setup, "rmcrt.incident", "power/length^2");
  labels_.boxes = boxesOf(values, rays_.wallRays, setup);
  if (!labels_.boxes.empty() && values.has("solid.where") && rays_.halo == 0 && levels_ > 1)
    findings.error(values.where("halo"),
                   "[[rmcrt.box]] beside solid cells looks one cell beyond each patch on refined "
                   "levels; give rmcrt.halo = 1 or more");
  findings.throwIfErrors();
  radiometers_ = radiometersOf(values, setup);
  if (rays_.rays > 0) totals_.loss = setup.labels.reduction("rmcrt.loss");
  if (rays_.wallRays > 0) configureWalls(setup);
  shares_ = static_cast<int>(values.integer("split"));
  if (shares_ == 1 || rays_.rays == 0) return;
  for (int part = 1; part <= RayParts::kCount; ++part)
    labels_.parts.push_back(setup.labels.variable<double, Cell>("rmcrt.part_" + std::to_string(part)));
}

void Rmcrt::configureWalls(ComponentSetup& setup) {
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
  if (values.has("solid.where")) configureSolids(values, setup);
}

void Rmcrt::configureSolids(const ParameterValues& values, ComponentSetup& setup) {
  RaySolids solid;
  solid.where = setup.labels.variable<double, Cell>("rmcrt.solid", "1");
  given_.push_back({"solid", solid.where, values.expression("solid.where")});
  solid.emissivity = solidInput(values, "emissivity", {"", "", 1.0, 1.0, "between 0 and 1"}, setup);
  solid.temperature = values.has("solid.temperature_from") ? input(values, "solid.temperature", setup)
                                                           : solidInput(values, "temperature", {}, setup);
  medium_.solid = solid;
  const char* const mirror = values.has("solid.mirror") ? "solid.mirror" : "wall.mirror";
  if (values.has(mirror)) rays_.mirroredOfSolids = values.real(mirror);
}

/// A number of solid cells, whose own key comes before that of all walls; `range.usual` without either. What
/// it is elsewhere makes no difference.
RadiationInput Rmcrt::solidInput(const ParameterValues& values, const std::string& key, NumberRange range,
                                 ComponentSetup& setup) {
  const std::string given = (values.has("solid." + key) ? "solid." : "wall.") + key;
  if (!values.has(given)) return {std::nullopt, range.usual};
  const Expression& expression = values.expression(given);
  if (expression.isConstant()) return {std::nullopt, expression(0, 0, 0, 0)};
  const std::array parts{values.expression("solid.where"), expression};
  const Expression inSolids = Expression::ofParts("if($0 != 0, $1, 0)", parts);
  setup.composed.push_back(inSolids);
  range.key = "rmcrt." + given;
  range.where = values.where(given).text();
  const std::string name = "solid_" + key;
  const Label<double, Cell> label = setup.labels.variable<double, Cell>("rmcrt." + name);
  given_.push_back({name, label, inSolids, range});
  return {label, 0.0};
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
      fillWithin(task, given.label, given.values, given.range);
    });
  }
  if (!radiometers_.empty()) std::visit([&](auto medium) { declareNoMedium(plan, medium); }, labels_.medium);
  if (hasNoResults()) return;
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
  if (levels_ == 1 || !labels_.divQ) return;
  declareAverage(step, "Rmcrt::averageDown", *labels_.divQ);
  if (labels_.incident) declareAverage(step, "Rmcrt::averageIncident", *labels_.incident);
}

/// What packing reads.
TaskBuilder Rmcrt::declareInputs(TaskBuilder task) const {
  const auto scattering = medium_.scattering ? medium_.scattering->label : std::nullopt;
  for (const auto& label : {medium_.absorption.label, scattering, medium_.heat.label}) {
    if (label) task.reads(Old, *label);
  }
  if (!medium_.solid) return task;
  task.reads(Old, medium_.solid->where);
  for (const RadiationInput& input : {medium_.solid->temperature, medium_.solid->emissivity}) {
    if (input.label) task.reads(Old, *input.label);
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
    forEachWork(
        [&](const std::string& name, const RayWork& work) { declareTrace(step, medium, kind, name, work); });
    if (!labels_.parts.empty()) declareSum(step, medium, kind);
  });
}

/// Calls `declare(name, work)` for what tasks on a patch do: one of them all, or each its share.
template <class Declare>
void Rmcrt::forEachWork(Declare&& declare) const {
  const bool walls = rays_.wallRays > 0;
  if (shares_ == 1) {
    if (!hasNoResults()) declare("", RayWork{rays_.rays > 0, {}, {walls, walls, walls}, labels_.boxes});
    return;
  }
  for (int share = 0; share < shares_ && rays_.rays > 0; ++share) {
    const RayParts parts{RayParts::kCount * share / shares_, RayParts::kCount * (share + 1) / shares_};
    declare("Share" + std::to_string(share + 1), RayWork{true, parts, {}, {}});
  }
  for (std::size_t axis = 0; axis < kAxes && walls; ++axis) {
    RayWork work;
    work.walls[axis] = true;
    declare(std::string("Walls") + "XYZ"[axis], work);
  }
  for (const RayBox& box : labels_.boxes) declare("Box_" + box.name, RayWork{false, {}, {}, {box}});
}

template <class Medium>
void Rmcrt::declareTrace(StepPlan& step, Label<Medium, Cell> medium, const KindOfLevel& kind,
                         const std::string& name, const RayWork& work) const {
  TaskBuilder trace = radiationTask(step, "Rmcrt::trace" + kind.suffix + name);
  declareMediumReads(trace, New, medium, kind);
  if (work.cells && work.parts.areAll()) {
    trace.writes(*labels_.divQ);
    if (labels_.incident) trace.writes(*labels_.incident);
  } else if (work.cells) {
    for (int part = work.parts.first; part < work.parts.last; ++part)
      trace.writes(labels_.parts[static_cast<std::size_t>(part)]);
  }
  if (work.walls[0]) trace.writes(labels_.flux.x);
  if (work.walls[1]) trace.writes(labels_.flux.y);
  if (work.walls[2]) trace.writes(labels_.flux.z);
  for (const RayBox& box : work.boxes) trace.writes(box.power);
  trace.runs(traceRays(medium, rays_, labels_, work));
}

template <class Medium>
void Rmcrt::declareSum(StepPlan& step, Label<Medium, Cell> medium, const KindOfLevel& kind) const {
  TaskBuilder sum = radiationTask(step, "Rmcrt::sum" + kind.suffix);
  sum.on(kind.levels).reads(New, medium).writes(*labels_.divQ);
  if (labels_.incident) sum.writes(*labels_.incident);
  for (const Label<double, Cell> part : labels_.parts) sum.reads(New, part);
  sum.runs(sumRays(medium, rays_, labels_));
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
  if (!radiometers_.empty())
    std::visit([&](auto medium) { declareRadiometers(plan, medium); }, labels_.medium);
  if (hasNoResults()) return;
  const bool hasWalls = rays_.wallRays > 0;
  TaskBuilder task = plan.task("Rmcrt::totals");
  forEachResult(labels_, hasWalls, [&](auto label) { task.reads(Old, label); });
  if (labels_.divQ) task.contributes(totals_.loss, Sum);
  for (const RayBox& box : labels_.boxes) task.contributes(box.total, Sum);
  if (hasWalls) {
    for (const ReductionLabel& wall : totals_.walls) task.contributes(wall, Sum);
  }
  task.runs(totalsOfRadiation(rays_, labels_, totals_));
}

bool Rmcrt::hasNoResults() const { return !labels_.divQ && rays_.wallRays == 0 && labels_.boxes.empty(); }

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
  std::vector<Diagnostic> columns;
  if (labels_.divQ) columns.push_back({.name = "rmcrt.loss", .reduction = totals_.loss, .unit = "power"});
  for (const RayBox& box : labels_.boxes)
    columns.push_back({.name = "rmcrt.box_" + box.name, .reduction = box.total, .unit = "power"});
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
