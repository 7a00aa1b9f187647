#include "tools/simulation/deck/run_settings.hpp"

#include <algorithm>

#include "tools/simulation/deck/grid_levels.hpp"

namespace tessera {
namespace {

std::optional<double> realOf(const ParameterValues& table, std::string_view name) {
  return table.has(name) ? std::optional(table.real(name)) : std::nullopt;
}

std::optional<std::int64_t> integerOf(const ParameterValues& table, std::string_view name) {
  return table.has(name) ? std::optional(table.integer(name)) : std::nullopt;
}

Division divisionOf(const ParameterValues& grid, const Geometry& geometry) {
  if (grid.has("patches")) return {Division::By::Patches, grid.integers3("patches")};
  Extent size = grid.has("patch_size") ? grid.integers3("patch_size") : usualPatchSize(geometry);
  for (int axis = 0; axis < kAxes; ++axis) size[axis] = std::min(size[axis], geometry.cells[axis]);
  return {Division::By::PatchSize, size};
}

void readGrid(const ParameterValues& grid, RunSettings& settings) {
  settings.geometry = geometryOf(grid);
  settings.division = divisionOf(grid, settings.geometry);
  settings.levels = refinedLevelsOf(grid);
}

void readLevels(const ParameterValues& amr, RunSettings& settings) {
  const std::string& name = amr.choice("prolongation");
  if (name == "constant") settings.prolongation = Prolongation::Constant;
  if (name == "linear") settings.prolongation = Prolongation::Linear;
  if (name == "limited") settings.prolongation = Prolongation::LimitedLinear;
  settings.refluxes = amr.boolean("reflux");
  settings.regrid = regridSettingsOf(amr);
  if (settings.regrid) {
    RefinedLevel empty;
    empty.ratio = settings.regrid->ratio;
    empty.patchSize = usualPatchSize(settings.geometry);
    while (static_cast<std::int64_t>(settings.levels.size()) + 1 < settings.regrid->levels)
      settings.levels.push_back(empty);
  }
  settings.subcycles = amr.boolean("subcycle") && !settings.levels.empty();
  settings.subcycleWhere = amr.where("subcycle");
}

void readTime(const ParameterValues& time, TimeSettings& settings) {
  settings.end = realOf(time, "end");
  settings.maxSteps = integerOf(time, "max_steps");
  settings.cfl = time.real("cfl");
  settings.cflWhere = time.where("cfl");
  settings.dt = realOf(time, "dt");
  settings.dtMax = realOf(time, "dt_max");
  settings.dtGrowth = realOf(time, "dt_growth");
  settings.retries = integerOf(time, "retries").value_or(0);
}

void readOutput(const ParameterValues& output, OutputSettings& settings) {
  settings.every = realOf(output, "every");
  settings.everySteps = integerOf(output, "every_steps");
  if (output.has("fields")) settings.fields = output.texts("fields");
  settings.fieldsWhere = output.where("fields");
  settings.doublePrecision = output.choice("precision") == "float64";
}

void readCheckpoint(const ParameterValues& checkpoint, CheckpointSettings& settings) {
  settings.everySteps = checkpoint.integer("every_steps");
  settings.everySeconds = checkpoint.real("every_seconds");
  settings.keep = static_cast<int>(checkpoint.integer("keep"));
  settings.atEnd = checkpoint.boolean("at_end");
  settings.stopOnFailure = checkpoint.choice("on_failure") == "stop";
}

}  // namespace

RunSettings settingsOf(const Deck& deck, const Schema& schema) {
  RunSettings settings;
  const ParameterValues simulation = valuesOf(deck, schema, "simulation");
  settings.title = simulation.text("title");
  settings.components = simulation.texts("components");
  readGrid(valuesOf(deck, schema, "grid"), settings);
  readLevels(valuesOf(deck, schema, "amr"), settings);
  readTime(valuesOf(deck, schema, "time"), settings.time);
  readOutput(valuesOf(deck, schema, "output"), settings.output);
  readCheckpoint(valuesOf(deck, schema, "checkpoint"), settings.checkpoint);
  const ParameterValues history = valuesOf(deck, schema, "history");
  settings.historyEverySteps = history.integer("every_steps");
  settings.watched = history.texts("watch");
  settings.watchedWhere = history.where("watch");
  settings.analysis = analysisSettingsOf(valuesOf(deck, schema, "analysis"));
  settings.devices = deviceSettingsOf(valuesOf(deck, schema, "device"));
  settings.solver = solverSettingsOf(valuesOf(deck, schema, "solver"));
  settings.units = unitNamesOf(valuesOf(deck, schema, "units"));
  settings.balance = balanceSettingsOf(valuesOf(deck, schema, "balance"));
  settings.time.landEvery = settings.output.every;
  return settings;
}

}  // namespace tessera
