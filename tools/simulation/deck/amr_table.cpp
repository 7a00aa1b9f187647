#include "tools/simulation/deck/amr_table.hpp"

namespace tessera {
namespace {

void declareBorders(ParameterTable& table) {
  table.choice("prolongation", {"component", "constant", "linear", "limited"})
      .doc(
          "how cells beyond the border of a refined region are taken from coarser ones: \"constant\" first "
          "order, \"linear\" second order, \"limited\" second order without new extrema; \"component\": as "
          "each component wants it")
      .defaultsTo("component");
  table.boolean("reflux")
      .doc(
          "coarse cells beside finer ones take the fluxes of these, so that nothing gets lost between levels")
      .defaultsTo(true);
  table.boolean("subcycle")
      .doc(
          "each finer level takes \"ratio\" shorter steps while the next coarser one takes one; else all "
          "levels take the same")
      .defaultsTo(false);
}

void declareFollowing(ParameterTable& table) {
  table.integer("max_levels")
      .doc(
          "levels that the mesh may have, level 0 included, where it follows the solution; not given: "
          "levels stay where [[grid.level]] puts them")
      .range(2, 30)
      .optional();
  table.integer("interval").doc("steps from one regrid to the next").atLeast(1).defaultsTo(4);
  table.integer("buffer")
      .doc(
          "cells around a flagged cell, of its level, that are refined with it; not given: as many as a wave "
          "crosses from one regrid to the next")
      .range(0, 1000)
      .optional();
  table.integer("hysteresis")
      .doc("for so many regrids a part of the mesh stays refined that is not flagged any more")
      .range(0, 1000)
      .defaultsTo(0);
  table.integer("ratio")
      .doc(
          "cells along each resolved axis of a cell of the next coarser level, 2 or 4, of levels that no "
          "[[grid.level]] is given for")
      .range(2, 4)
      .defaultsTo(2);
  table.choice("regridder", {"tiled", "clustered"})
      .doc(
          "\"tiled\": the tiles with a flagged cell are the patches; \"clustered\": boxes around clusters of "
          "such tiles (Berger and Rigoutsos), fewer and larger patches")
      .defaultsTo("tiled");
  table.integer("tile")
      .doc("cells along each resolved axis, of the finer level, of the smallest part that can be refined")
      .range(2, 1024)
      .defaultsTo(8);
  table.real("efficiency")
      .doc("of \"clustered\": the part of a box that has to be flagged, or it is cut")
      .above(0)
      .atMost(1)
      .defaultsTo(0.7);
  table.integerVector("patch_size", 3)
      .doc("of \"clustered\": the most cells of a patch along x, y and z; not given: as grid.patch_size")
      .atLeast(1)
      .optional();
  table.integer("max_cells")
      .doc("the run stops, with a checkpoint, before its mesh would have more cells than this")
      .atLeast(1)
      .optional()
      .mayChangeOnRestart();
}

void checkCriterion(const ParameterValues& criterion, DeckDiagnostics& findings) {
  const bool isExpression = criterion.choice("kind") == "expression";
  const auto need = [&](const char* key, const std::string& what) {
    if (!criterion.has(key))
      findings.error(criterion.tableWhere(), "a criterion of kind \"" + criterion.choice("kind") +
                                                 "\" needs " + what + "; give it `" + key + "`");
  };
  const auto refuse = [&](const char* key) {
    if (criterion.has(key))
      findings.error(criterion.where(key), "a criterion of kind \"" + criterion.choice("kind") +
                                               "\" has no `" + key + "`; leave it out");
  };
  if (isExpression) {
    need("expression", "a function of place and time");
    refuse("variable");
    return;
  }
  need("variable", "a variable");
  need("threshold", "a number above which a cell is flagged");
  refuse("expression");
  if (criterion.has("threshold") && criterion.real("threshold") < 0.0)
    findings.error(criterion.where("threshold"), "a threshold below 0 flags every cell; give 0 or more");
}

void declareCriterion(ParameterTable& table) {
  ParameterTable& criterion =
      table.arrayOf("criterion", "What asks for smaller cells; a cell that one of these flags is refined");
  criterion.choice("kind", {"gradient", "jump", "second_difference", "expression"})
      .doc(
          "\"gradient\": the length of the gradient; \"jump\": the largest difference to a neighbour; "
          "\"second_difference\": the second difference as a part, 0 to 1, of the differences around it; "
          "\"expression\": a function of place and time")
      .required();
  criterion.text("variable")
      .doc("a variable of one double a cell, or a component: \"temperature\", \"gas.density\"")
      .optional();
  criterion.expression("expression").doc("a cell is flagged where it is above the threshold").optional();
  criterion.real("threshold").doc("cells with more are flagged; of an expression not given: 0").optional();
  criterion.integer("level")
      .doc("level of the cells that it looks at; not given: all but the finest one")
      .atLeast(0)
      .optional();
  criterion.check(checkCriterion);
}

void checkFollowing(const ParameterValues& amr, DeckDiagnostics& findings) {
  const std::vector<ParameterValues>& criteria = amr.tables("criterion");
  if (!amr.has("max_levels")) {
    if (!criteria.empty())
      findings.error(criteria.front().tableWhere(),
                     "[[amr.criterion]] is for a mesh that follows the solution; say with amr.max_levels how "
                     "many levels it may have");
    return;
  }
  if (criteria.empty())
    findings.error(amr.where("max_levels"),
                   "nothing says where the mesh is to be refined; give an [[amr.criterion]], or leave "
                   "amr.max_levels out for levels that stay where [[grid.level]] puts them");
  if (amr.integer("ratio") == 3)
    findings.error(amr.where("ratio"), "a ratio of 3 is not possible; give 2 or 4");
  const std::int64_t levels = amr.integer("max_levels");
  for (const ParameterValues& criterion : criteria) {
    if (!criterion.has("level") || criterion.integer("level") < levels - 1) continue;
    findings.error(criterion.where("level"),
                   "amr.max_levels = " + std::to_string(levels) + " leaves no level above level " +
                       std::to_string(criterion.integer("level")) + "; give at most " +
                       std::to_string(levels - 2) + ", or allow more levels");
  }
}

FlagKind kindOf(const std::string& name) {
  if (name == "gradient") return FlagKind::Gradient;
  if (name == "jump") return FlagKind::Jump;
  return name == "second_difference" ? FlagKind::SecondDifference : FlagKind::Expression;
}

FlagCriterion criterionOf(const ParameterValues& values) {
  FlagCriterion criterion;
  criterion.kind = kindOf(values.choice("kind"));
  if (values.has("variable")) criterion.variable = values.text("variable");
  if (values.has("expression")) criterion.expression = values.expression("expression");
  if (values.has("threshold")) criterion.threshold = values.real("threshold");
  if (values.has("level")) criterion.level = values.integer("level");
  criterion.where = values.where(criterion.kind == FlagKind::Expression ? "expression" : "variable");
  criterion.levelWhere = values.where("level");
  return criterion;
}

}  // namespace

ParameterTable amrTable() {
  ParameterTable table("amr", "Refined levels: what holds where they meet, and how they follow the solution");
  declareBorders(table);
  declareFollowing(table);
  declareCriterion(table);
  table.check(checkFollowing);
  return table;
}

std::optional<RegridSettings> regridSettingsOf(const ParameterValues& amr) {
  if (!amr.has("max_levels")) return {};
  RegridSettings settings;
  settings.levels = amr.integer("max_levels");
  settings.interval = amr.integer("interval");
  if (amr.has("buffer")) settings.buffer = amr.integer("buffer");
  settings.hysteresis = amr.integer("hysteresis");
  settings.ratio = amr.integer("ratio");
  settings.tile = amr.integer("tile");
  if (amr.has("patch_size")) settings.patchSize = amr.integers3("patch_size");
  settings.kind = amr.choice("regridder") == "tiled" ? RegridderKind::Tiled : RegridderKind::Clustering;
  settings.efficiency = amr.real("efficiency");
  if (amr.has("max_cells")) settings.maxCells = amr.integer("max_cells");
  for (const ParameterValues& values : amr.tables("criterion"))
    settings.criteria.push_back(criterionOf(values));
  settings.levelsWhere = amr.where("max_levels");
  settings.bufferWhere = amr.where("buffer");
  settings.tileWhere = amr.where("tile");
  return settings;
}

}  // namespace tessera
