#include "components/rmcrt/rmcrt_parameters.hpp"

#include <initializer_list>
#include <string>

#include "components/cadence.hpp"
#include "components/rmcrt/boxes/box_deck.hpp"
#include "components/rmcrt/radiometers/radiometer_deck.hpp"

namespace tessera {
namespace {

constexpr double kUsualStefanBoltzmann = 5.670374419e-8;  // CODATA 2018, W/(m^2 K^4)

void checkNamesOfRadiation(const ParameterValues& values, DeckDiagnostics& findings) {
  for (const char* key : {"absorption_from", "scattering_from", "temperature_from", "emissive_power_from",
                          "solid.temperature_from"}) {
    if (!values.has(key) || isLabelName(values.text(key))) continue;
    findings.error(values.where(key), "rmcrt." + std::string(key) + " has \"" + values.text(key) +
                                          "\", which no variable can be called; give the name of a "
                                          "variable such as \"heat.T\"");
  }
}

/// Keys of which just one says what radiates, or how much is absorbed.
void checkSourcesOfRadiation(const ParameterValues& values, DeckDiagnostics& findings) {
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
  if (values.isGiven("solid.temperature") || values.isGiven("solid.temperature_from"))
    expectOne({"solid.temperature", "solid.temperature_from"}, "how hot solid cells are");
  if (values.isGiven("scattering") || values.isGiven("scattering_from"))
    expectOne({"scattering", "scattering_from"}, "what scatters");
}

/// Rays have to go from somewhere.
void checkWork(const ParameterValues& values, DeckDiagnostics& findings) {
  if (values.integer("rays") > 0) return;
  const bool fromWalls = values.has("wall_rays") && values.integer("wall_rays") > 0;
  if (!fromWalls && values.tables("box").empty() && values.tables("radiometer").empty())
    findings.error(values.where("rays"),
                   "rmcrt.rays is 0 and nothing else has rays; give rmcrt.wall_rays, a [[rmcrt.box]] or a "
                   "[[rmcrt.radiometer]]");
  if (values.boolean("incident"))
    findings.error(values.where("incident"),
                   "rmcrt.incident needs rays from cells; give rmcrt.rays above 0, or remove it");
}

void declareMirror(ParameterTable& table, const std::string& prefix, const std::string& what) {
  table.real(prefix + "mirror")
      .doc("part of what " + what +
           " reflects that leaves as from a mirror; the rest leaves in any "
           "direction")
      .range(0, 1)
      .optional();
}

void declareSolid(ParameterTable& table) {
  table.expression("solid.where", {"x", "y", "z"})
      .doc("where it is not 0 at the centre of a cell, the cell is solid")
      .optional();
  table.expression("solid.temperature", {"x", "y", "z"})
      .doc("temperature of solid cells, at their centres")
      .unit("temperature")
      .atLeast(0)
      .optional();
  table.text("solid.temperature_from")
      .doc("name of the variable that is the temperature of solid cells")
      .optional();
  table.expression("solid.emissivity", {"x", "y", "z"})
      .doc("part of a black body's that solid cells send, at their centres")
      .range(0, 1)
      .optional();
  declareMirror(table, "solid.", "solid cells");
}

void declareWall(ParameterTable& table, const std::string& prefix, const std::string& what) {
  table.expression(prefix + "temperature", {"x", "y", "z"})
      .doc("temperature of " + what + ", of each face of level 0")
      .unit("temperature")
      .atLeast(0)
      .optional();
  table.expression(prefix + "emissivity", {"x", "y", "z"})
      .doc("part of a black body's that " + what + " sends, of each face of level 0")
      .range(0, 1)
      .optional();
  declareMirror(table, prefix, what);
}

void declareMedium(ParameterTable& table) {
  table.expression("absorption", {"x", "y", "z"})
      .doc("absorption coefficient")
      .unit("1/length")
      .atLeast(0)
      .defaultsTo(0);
  table.text("absorption_from").doc("name of the variable that is the absorption coefficient").optional();
  table.expression("scattering", {"x", "y", "z"})
      .doc("scattering coefficient; every direction alike")
      .unit("1/length")
      .atLeast(0)
      .optional();
  table.text("scattering_from").doc("name of the variable that is the scattering coefficient").optional();
  table.expression("temperature", {"x", "y", "z"}).doc("temperature of the medium").atLeast(0).optional();
  table.text("temperature_from").doc("name of the variable that is the temperature of the medium").optional();
  table.expression("emissive_power", {"x", "y", "z"})
      .doc(
          "power that a unit of area of a black body sends that is as hot as "
          "the medium")
      .unit("power/length^2")
      .atLeast(0)
      .optional();
  table.text("emissive_power_from").doc("name of the variable that is the emissive power").optional();
  table.real("stefan_boltzmann")
      .doc("the constant that T^4 is multiplied by")
      .above(0)
      .defaultsTo(kUsualStefanBoltzmann);
}

void declareRays(ParameterTable& table) {
  table.integer("rays")
      .doc("rays from each cell; 0: no rmcrt.divQ, just what walls, boxes and radiometers say")
      .range(0, 1 << 30)
      .defaultsTo(100);
  table.integer("wall_rays")
      .doc(
          "rays from each face of a wall; 0: no fluxes on walls; what rays "
          "says where it is not given")
      .range(0, 1 << 30)
      .optional();
  table.real("threshold")
      .doc("a ray ends where less than this part comes through")
      .above(0)
      .atMost(0.5)
      .defaultsTo(1e-4);
  table.choice("directions", {"uniform", "stratified"})
      .doc(
          "how directions are drawn; \"stratified\": evenly spread over those "
          "of a cell")
      .defaultsTo("uniform");
  table.choice("origins", {"spread", "centre"}).doc("where in a cell its rays start").defaultsTo("spread");
  table.integer("seed").doc("another one gives other random numbers").range(0, 0xffffffff).defaultsTo(0);
  declareCadence(table, "radiation is computed");
  table.integer("halo")
      .doc(
          "fine cells around a patch that rays pass before they go on in the "
          "coarsest level")
      .range(0, 64)
      .defaultsTo(4);
  table.integer("middle_halo")
      .doc(
          "cells of each of the two next coarser levels around a patch of "
          "level 2 or finer that rays pass before "
          "the coarsest level; not given: none of a level between")
      .range(0, 64)
      .optional();
  table.choice("precision", {"double", "float"})
      .doc(
          "of what is known of the medium in each cell; \"float\" halves the "
          "memory of whole levels")
      .defaultsTo("double");
  table.integer("split")
      .doc(
          "tasks that share the rays of the cells of a patch, for more threads or streams than patches; the "
          "same bits for any number")
      .range(1, RayParts::kCount)
      .defaultsTo(1);
  table.boolean("incident")
      .doc(
          "whether rmcrt.incident is kept: what arrives in a cell from all "
          "directions")
      .defaultsTo(false);
}

}  // namespace

void declareRmcrtParameters(ParameterTable& table) {
  declareMedium(table);
  declareRays(table);
  declareWall(table, "wall.", "all walls");
  for (int side = 0; side < kSides; ++side)
    declareWall(table, std::string("wall.") + sideName(side) + ".",
                std::string("the wall ") + sideName(side));
  declareSolid(table);
  declareRadiometerTables(table);
  declareBoxTables(table);
  table.check(checkSourcesOfRadiation);
  table.check(checkNamesOfRadiation);
  table.check(checkWork);
}

}  // namespace tessera
