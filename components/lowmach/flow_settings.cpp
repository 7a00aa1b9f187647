#include "components/lowmach/flow_settings.hpp"

#include <variant>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"

namespace tessera {
namespace {

void declareFluid(ParameterTable& table) {
  table.real("density")
      .doc("density of the fluid; 1 where it is not given")
      .unit("mass/length^3")
      .above(0)
      .optional();
  table.realVector("mixing.density", 2)
      .doc("densities of the two streams, of the mixture fractions 0 and 1, in place of density")
      .unit("mass/length^3")
      .above(0)
      .optional();
  table.real("viscosity").doc("dynamic viscosity").unit("mass/(length time)").atLeast(0).defaultsTo(0);
  table.real("mixing.viscosity")
      .doc("dynamic viscosity of the mixture fraction 1, where it is another one")
      .unit("mass/(length time)")
      .atLeast(0)
      .optional();
  table.real("diffusivity")
      .doc("of the mixture fraction, times density")
      .unit("mass/(length time)")
      .atLeast(0)
      .defaultsTo(0);
  table.real("conductivity").doc("of heat").unit("power/(length temperature)").atLeast(0).defaultsTo(0);
  table.real("heat_capacity")
      .doc("of a unit of mass")
      .unit("energy/(mass temperature)")
      .above(0)
      .defaultsTo(1);
  table.real("reference_temperature")
      .doc("temperature at which density is what the deck says; it goes as 1 over the temperature then")
      .above(0)
      .optional();
  table.realVector("gravity", 3).doc("acceleration").unit("length/time^2").defaultsTo({0.0, 0.0, 0.0});
  table.real("reference_density")
      .doc("density whose weight the pressure does not show")
      .unit("mass/length^3")
      .atLeast(0)
      .defaultsTo(0);
}

void declareFlowMethod(ParameterTable& table) {
  table.choice("stages", {"rk2", "rk3"})
      .doc("strong-stability-preserving Runge-Kutta method of two or three stages, each with a projection")
      .defaultsTo("rk2");
  table.choice("convection", {"central", "limited"})
      .doc("how momentum is carried: by means of two faces, or upwind with van Leer's slopes")
      .defaultsTo("central");
  table.choice("slopes", {"vanleer", "none"})
      .doc("how the slopes of what is carried are limited; \"none\": not at all")
      .defaultsTo("vanleer");
}

void declareFlowState(ParameterTable& table) {
  const Variables space{"x", "y", "z"};
  for (int axis = 0; axis < kAxes; ++axis) {
    table.expression(keyOfAxis("initial.velocity", axis), space)
        .doc("velocity along this axis at the start")
        .unit("length/time")
        .defaultsTo(0);
    table.expression(keyOfAxis("force", axis))
        .doc("force along this axis on a unit of volume")
        .unit("mass/(length time)^2")
        .defaultsTo(0);
    table.expression(keyOfAxis("exact.velocity", axis))
        .doc("the exact velocity along this axis; where given, the history has the norms of the error")
        .mayChangeOnRestart()
        .optional();
  }
  table.expression("initial.mixture_fraction", space)
      .doc("mixture fraction at the start; where given, it is carried along")
      .optional();
  table.expression("initial.temperature", space)
      .doc("temperature at the start; where given, heat is carried along")
      .optional();
  table.expression("mixture_source").doc("mixture that arises, per volume and time").optional();
  table.expression("heat_source").doc("heat that arises, per volume").unit("power/length^3").optional();
  for (const char* key : {"pressure", "density", "mixture_fraction", "temperature"})
    table.expression(std::string("exact.") + key)
        .doc("the exact solution, as above")
        .mayChangeOnRestart()
        .optional();
}

bool isZero(const Expression& f) { return f.isConstant() && f(0, 0, 0, 0) == 0.0; }

std::optional<Expression> optionalOf(const ParameterValues& values, const std::string& key) {
  if (!values.has(key)) return std::nullopt;
  return values.expression(key);
}

void readRelation(const ParameterValues& values, FlowParams& params) {
  if (values.has("density")) params.density = values.real("density");
  params.relation = {1.0 / params.density, 0.0, 0.0};
  if (values.has("mixing.density")) {
    const std::vector<double>& both = values.reals("mixing.density");
    params.relation.v0 = 1.0 / both[0];
    params.relation.dv = 1.0 / both[1] - 1.0 / both[0];
  }
  if (values.has("reference_temperature"))
    params.relation.perTemperature = 1.0 / values.real("reference_temperature");
  params.densityVaries = values.has("mixing.density") || values.has("reference_temperature");
  params.viscosity = values.real("viscosity");
  if (values.has("mixing.viscosity"))
    params.viscosityByMixture = values.real("mixing.viscosity") - params.viscosity;
}

/// The deck of a checkpoint gives all keys, so a number counts as given where it is not `usual`.
void expectKey(const ParameterValues& values, const char* key, double usual, const char* needs,
               DeckDiagnostics& findings) {
  const double* const number = std::get_if<double>(&values.value(key));
  if (!values.has(key) || values.has(needs) || (number != nullptr && *number == usual)) return;
  findings.error(values.where(key),
                 std::string("lowmach.") + key + " needs lowmach." + needs + "; give that, or remove this");
}

void checkSettings(const ParameterValues& values, DeckDiagnostics& findings) {
  for (const char* key : {"mixing.density", "mixing.viscosity", "diffusivity", "mixture_source"})
    expectKey(values, key, 0.0, "initial.mixture_fraction", findings);
  for (const char* key : {"reference_temperature", "conductivity", "heat_source"})
    expectKey(values, key, 0.0, "initial.temperature", findings);
  expectKey(values, "heat_capacity", 1.0, "initial.temperature", findings);
  if (values.has("density") && values.has("mixing.density"))
    findings.error(values.where("density"),
                   "lowmach.mixing.density gives the density already; remove lowmach.density");
}

}  // namespace

std::string keyOfAxis(const char* key, int axis) { return std::string(key) + "." + "xyz"[axis]; }

void declareFlowSettings(ParameterTable& table) {
  declareFluid(table);
  declareFlowMethod(table);
  declareFlowState(table);
  declareFlowBoundaries(table);
  table.check(checkSettings);
}

FlowSettings readFlowSettings(const ParameterValues& values, const Geometry& geometry) {
  FlowSettings settings;
  FlowParams& params = settings.params;
  readRelation(values, params);
  params.gravity = values.vector3("gravity");
  params.referenceDensity = values.real("reference_density");
  params.limited = values.choice("convection") == "limited";
  params.limitedScalars = values.choice("slopes") == "vanleer";
  settings.threeStages = values.choice("stages") == "rk3";
  settings.heatCapacity = values.real("heat_capacity");
  params.diffusivity[kMixture] = values.real("diffusivity");
  params.diffusivity[kTemperature] = values.real("conductivity") / settings.heatCapacity;
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    params.active[axis] = geometry.active(d);
    settings.initial[axis] = values.expression(keyOfAxis("initial.velocity", d));
    settings.force[axis] = values.expression(keyOfAxis("force", d));
    settings.exact[axis] = optionalOf(values, keyOfAxis("exact.velocity", d));
    params.hasForce = params.hasForce || !isZero(settings.force[axis]);
  }
  settings.exactPressure = optionalOf(values, "exact.pressure");
  settings.exactDensity = optionalOf(values, "exact.density");
  const std::array keys{"mixture_fraction", "temperature"};
  const std::array sources{"mixture_source", "heat_source"};
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    CarriedSettings& carried = settings.carried[n];
    const std::string initial = std::string("initial.") + keys[n];
    carried.isThere = values.has(initial);
    if (!carried.isThere) continue;
    carried.initial = values.expression(initial);
    carried.source = optionalOf(values, sources[n]);
    carried.exact = optionalOf(values, std::string("exact.") + keys[n]);
  }
  if (auto& heat = settings.carried[kTemperature].source) {
    const std::array parts{*heat, Expression::constant(settings.heatCapacity)};
    heat = Expression::ofParts("$0/$1", parts);
  }
  settings.boundaries = readFlowBoundaries(values, geometry, settings.carried[kTemperature].isThere);
  params.sides = settings.boundaries.kinds;
  return settings;
}

}  // namespace tessera
