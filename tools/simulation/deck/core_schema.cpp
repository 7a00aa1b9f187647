#include "tools/simulation/deck/core_schema.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "components/parts/left_out.hpp"
#include "core/text/nearest_name.hpp"
#include "tools/simulation/analysis/analysis_settings.hpp"
#include "tools/simulation/deck/amr_table.hpp"
#include "tools/simulation/deck/balance_table.hpp"
#include "tools/simulation/deck/device_table.hpp"
#include "tools/simulation/deck/grid_levels.hpp"
#include "tools/simulation/deck/solver_table.hpp"
#include "tools/simulation/deck/unit_table.hpp"

namespace tessera {
namespace {

const char* const kAxisNames[] = {"x", "y", "z"};

ParameterTable simulationTable() {
  ParameterTable table("simulation", "What is computed");
  table.text("title").doc("a title for people; shown in reports").defaultsTo("").mayChangeOnRestart();
  table.textList("components").doc("the physics to run, by name; `tessera list` shows all").required();
  return table;
}

/// Neighbouring cells need positions that differ, on the finest level too.
void checkSpacing(const ParameterValues& grid, int axis, DeckDiagnostics& findings) {
  const double lower = grid.vector3("lower")[axis];
  const double upper = grid.vector3("upper")[axis];
  const std::int64_t cells = grid.integers3("cells")[axis];
  constexpr double kFewest = 16.0;  // doubles from one cell to the next
  const double smallest =
      kFewest * std::numeric_limits<double>::epsilon() * std::max(std::abs(lower), std::abs(upper));
  const double spacing = (upper - lower) / static_cast<double>(cells);
  if (cells > 1 &&
      spacing / refinementOfLevels(grid) < std::max(smallest, std::numeric_limits<double>::min())) {
    findings.error(grid.where("upper"),
                   std::string("cells along ") + kAxisNames[axis] +
                       " are so small that positions in them are the same number of double precision; use "
                       "fewer cells or levels, a larger domain, or one nearer to 0");
  }
}

void checkDomain(const ParameterValues& grid, DeckDiagnostics& findings) {
  const Real3 lower = grid.vector3("lower");
  const Real3 upper = grid.vector3("upper");
  for (int axis = 0; axis < kAxes; ++axis) {
    const std::string name = kAxisNames[axis];
    if (!(upper[axis] > lower[axis])) {
      findings.error(grid.where("upper"),
                     "grid.upper has to be above grid.lower on each axis, but is not on " + name);
    } else if (!std::isfinite(upper[axis] - lower[axis])) {
      findings.error(grid.where("upper"), "grid.upper - grid.lower is infinite on " + name +
                                              "; choose units in which the domain has a finite length");
    } else {
      checkSpacing(grid, axis, findings);
    }
  }
}

/// Patches along one axis, or 0 where the division does not fit.
std::int64_t piecesAlong(const ParameterValues& grid, int axis) {
  const std::int64_t cells = grid.integers3("cells")[axis];
  if (grid.has("patches")) {
    const std::int64_t pieces = grid.integers3("patches")[axis];
    return pieces > cells ? 0 : pieces;
  }
  const Extent size =
      grid.has("patch_size") ? grid.integers3("patch_size") : usualPatchSize(geometryOf(grid));
  return (cells - 1) / size[axis] + 1;
}

void checkDivision(const ParameterValues& grid, DeckDiagnostics& findings) {
  const Index cells = grid.integers3("cells");
  if (grid.has("patches") && grid.has("patch_size")) {
    findings.error(grid.where("patch_size"),
                   "grid.patches and grid.patch_size say the same thing twice; give one of them");
    return;
  }
  double patches = 1.0;
  for (int axis = 0; axis < kAxes; ++axis) {
    const std::int64_t pieces = piecesAlong(grid, axis);
    if (pieces == 0) {
      findings.error(grid.where("patches"),
                     "grid.patches asks for " + std::to_string(grid.integers3("patches")[axis]) +
                         " patches along " + kAxisNames[axis] + ", where there are " +
                         std::to_string(cells[axis]) + " cells; a patch needs at least one");
      return;
    }
    patches *= static_cast<double>(pieces);
  }
  if (patches > static_cast<double>(kMaxPatches)) {
    const char* const key = grid.has("patches") ? "patches" : grid.has("patch_size") ? "patch_size" : "cells";
    const std::string usual =
        key == std::string("cells") ? " of the usual size; give grid.patch_size" : "; make them larger";
    findings.error(grid.where(key),
                   "the grid would have more than " + std::to_string(kMaxPatches) + " patches" + usual);
  }
}

void checkCellCount(const ParameterValues& grid, DeckDiagnostics& findings) {
  double count = 1.0;
  for (int axis = 0; axis < kAxes; ++axis) count *= static_cast<double>(grid.integers3("cells")[axis]);
  if (count >= kMaxCells)
    findings.error(grid.where("cells"), "grid.cells asks for more than 2^50 cells in total");
}

ParameterTable gridTable() {
  ParameterTable table(
      "grid", "The box and its cells. An axis with one cell is not resolved: cells = [64, 64, 1] is 2-D");
  table.realVector("lower", 3).doc("position of the lower corner").defaultsTo({0.0, 0.0, 0.0});
  table.realVector("upper", 3).doc("position of the upper corner").defaultsTo({1.0, 1.0, 1.0});
  table.integerVector("cells", 3).doc("number of cells along x, y and z").range(1, 0x1p40).required();
  table.integerVector("patches", 3)
      .doc("number of patches along x, y and z; patch_size is the other way")
      .atLeast(1)
      .optional();
  table.integerVector("patch_size", 3)
      .doc(
          "cells of a patch along x, y and z, the last one may be smaller, and more than the grid has means "
          "all of "
          "them; without it and patches: 256 in "
          "1-D, 64 x 64 in "
          "2-D, 32 x 32 x 32 in 3-D")
      .atLeast(1)
      .optional();
  table.booleanVector("periodic", 3)
      .doc("whether the domain is periodic along x, y and z")
      .defaultsTo({false, false, false});
  declareGridLevels(table);
  table.check(checkDomain);
  table.check(checkDivision);
  table.check(checkCellCount);
  return table;
}

ParameterTable timeTable() {
  ParameterTable table("time", "How long to run, and in which steps");
  table.real("end")
      .doc("the time to stop at; the last step lands on it")
      .above(0)
      .optional()
      .mayChangeOnRestart();
  table.integer("max_steps").doc("stop after this many steps").atLeast(0).optional().mayChangeOnRestart();
  table.real("cfl")
      .doc("time step as a part of the largest stable one")
      .above(0)
      .atMost(10)
      .defaultsTo(0.9)
      .mayChangeOnRestart();
  table.real("dt")
      .doc("a fixed time step, in place of the stable one")
      .above(0)
      .optional()
      .mayChangeOnRestart();
  table.real("dt_max").doc("the largest time step allowed").above(0).optional().mayChangeOnRestart();
  table.real("dt_growth")
      .doc(
          "the largest ratio of a time step to the one before it; where that one was shortened to land "
          "on "
          "a time, its length without that counts")
      .above(1)
      .optional()
      .mayChangeOnRestart();
  table.integer("retries")
      .doc("how often a step that a component refuses is taken again, each time half as long; not given: 0")
      .atLeast(0)
      .atMost(50)
      .optional()
      .mayChangeOnRestart();
  table.check([](const ParameterValues& time, DeckDiagnostics& findings) {
    if (!time.has("end") && !time.has("max_steps")) {
      findings.error(time.tableWhere(), "the run would not end; give time.end, time.max_steps or both");
    }
    if (time.real("cfl") > 1.0) {
      findings.warning(time.where("cfl"),
                       "time.cfl is above 1: steps are longer than the largest that an explicit component "
                       "calls stable, and its result may blow up");
    }
  });
  return table;
}

ParameterTable outputTable() {
  ParameterTable table("output",
                       "Fields for viewing, in RUN/out. The first and the last state are always written");
  table.real("every")
      .doc("time between outputs; steps land on these times")
      .above(0)
      .optional()
      .mayChangeOnRestart();
  table.integer("every_steps").doc("steps between outputs").atLeast(1).optional().mayChangeOnRestart();
  table.textList("fields")
      .doc("names of the variables to write; not given: all, []: none")
      .optional()
      .mayChangeOnRestart();
  table.choice("precision", {"float32", "float64"})
      .doc("number type in the files")
      .defaultsTo("float64")
      .mayChangeOnRestart();
  table.check([](const ParameterValues& output, DeckDiagnostics& findings) {
    if (output.has("every") && output.has("every_steps")) {
      findings.error(output.where("every_steps"),
                     "output.every and output.every_steps exclude each other; give one of them");
    }
  });
  return table;
}

ParameterTable checkpointTable() {
  ParameterTable table("checkpoint", "States to restart from, in RUN/checkpoints");
  table.integer("every_steps")
      .doc("steps between checkpoints; 0: none by steps")
      .atLeast(0)
      .defaultsTo(0)
      .mayChangeOnRestart();
  table.real("every_seconds")
      .doc("wall time between checkpoints; 0: none by time")
      .unit("s")
      .atLeast(0)
      .defaultsTo(900.0)
      .mayChangeOnRestart();
  table.integer("keep")
      .doc("how many of the newest to keep")
      .range(2, 1000)
      .defaultsTo(2)
      .mayChangeOnRestart();
  table.boolean("at_end").doc("write one when the run is done").defaultsTo(true).mayChangeOnRestart();
  table.choice("on_failure", {"continue", "stop"})
      .doc("what to do when one cannot be written, for example because the disk is full")
      .defaultsTo("continue")
      .mayChangeOnRestart();
  return table;
}

ParameterTable historyTable() {
  ParameterTable table("history", "Numbers over time, in RUN/history.csv");
  table.integer("every_steps")
      .doc("steps between lines; 0: no history")
      .atLeast(0)
      .defaultsTo(1)
      .mayChangeOnRestart();
  table.textList("watch")
      .doc("columns that the progress on the screen shows, with the least and largest value so far")
      .defaultsTo(std::vector<std::string>{})
      .mayChangeOnRestart();
  return table;
}

Schema coreTables() {
  Schema schema;
  schema.add(simulationTable());
  schema.add(gridTable());
  schema.add(timeTable());
  schema.add(amrTable());
  return schema;
}

void addOutputTables(Schema& schema) {
  schema.add(outputTable());
  schema.add(checkpointTable());
  schema.add(historyTable());
  schema.add(analysisTable());
  schema.add(unitTable());
  schema.add(deviceTable());
  schema.add(solverTable());
  schema.add(balanceTable());
}

bool selects(const Deck& deck, const std::string& component) {
  const DeckNode* list = deck.find("simulation.components");
  if (list == nullptr || list->kind != DeckKind::Array) return false;
  return std::any_of(list->children.begin(), list->children.end(), [&](const DeckNode& node) {
    return node.kind == DeckKind::Text && node.text() == component;
  });
}

ParameterTable tableOf(const ComponentRegistry& registry, const std::string& name) {
  const std::unique_ptr<Component> component = registry.make(name);
  ParameterTable table(name, component->summary());
  component->declareParameters(table);
  return table;
}

std::string namesOf(const ComponentRegistry& registry) {
  std::string text;
  for (const std::string& name : registry.names()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// A component that knows nothing of levels would compute something wrong where they meet.
void checkLevelSupport(const Deck& deck, const ComponentRegistry& registry, DeckDiagnostics& findings) {
  const DeckNode* levels = deck.find("grid.level");
  const bool areStatic = levels != nullptr && !levels->children.empty();
  const bool follow = deck.find("amr.max_levels") != nullptr;
  const DeckNode* list = deck.find("simulation.components");
  if ((!areStatic && !follow) || list == nullptr || list->kind != DeckKind::Array) return;
  for (const DeckNode& node : list->children) {
    if (node.kind != DeckKind::Text) continue;
    const std::unique_ptr<Component> component = registry.make(node.text());
    if (component == nullptr || component->supportsLevels()) continue;
    findings.error(node.where, "component \"" + node.text() + "\" cannot compute on several levels; remove " +
                                   (areStatic ? "[[grid.level]]" : "amr.max_levels") + " from the deck");
  }
}

void checkComponentNames(const Deck& deck, const ComponentRegistry& registry, DeckDiagnostics& findings) {
  const DeckNode* list = deck.find("simulation.components");
  if (list == nullptr || list->kind != DeckKind::Array) return;
  if (list->children.empty()) {
    findings.error(list->where, "simulation.components is empty; name at least one of: " + namesOf(registry));
  }
  std::vector<std::string> seen;
  for (const DeckNode& node : list->children) {
    if (node.kind != DeckKind::Text) continue;
    const std::string& name = node.text();
    const auto& known = registry.names();
    const auto& leftOut = componentsLeftOut();
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        findings.error(node.where, "component \"" + name + "\" is named twice; remove one of them");
    } else if (std::find(leftOut.begin(), leftOut.end(), name) != leftOut.end()) {
      findings.error(node.where, "component \"" + name + "\" is left out of this build, which has " +
                                     namesOf(registry) + "; ./tessera setup builds all components");
    } else {
      findings.error(node.where, "unknown component \"" + name + "\"" + didYouMeanOneOf(name, known));
    }
    seen.push_back(name);
  }
}

}  // namespace

Schema schemaFor(const Deck& deck, const ComponentRegistry& registry) {
  Schema schema = coreTables();
  for (const std::string& name : registry.names()) {
    if (selects(deck, name)) {
      schema.add(tableOf(registry, name));
    } else {
      schema.addUnselected(tableOf(registry, name));
    }
  }
  addOutputTables(schema);
  return schema;
}

Schema schemaOfEverything(const ComponentRegistry& registry) {
  Schema schema = coreTables();
  addOutputTables(schema);
  for (const std::string& name : registry.names()) schema.addUnselected(tableOf(registry, name));
  return schema;
}

DeckDiagnostics checkDeck(const Deck& deck, const ComponentRegistry& registry) {
  DeckDiagnostics findings = check(deck, schemaFor(deck, registry));
  checkComponentNames(deck, registry, findings);
  checkLevelSupport(deck, registry, findings);
  return findings;
}

}  // namespace tessera
