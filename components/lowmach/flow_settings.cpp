#include "components/lowmach/flow_settings.hpp"

#include <variant>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"

namespace tessera {
namespace {

/// "velocity.x", of axis 0.
std::string keyOfAxis(const char* key, int axis) { return std::string(key) + "." + "xyz"[axis]; }

constexpr std::array kSourceLists{"sources", "mixture_sources", "mass_sources"};

void declareFluid(ParameterTable& table) {
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
  table.realVector("gravity", 3).doc("acceleration").unit("length/time^2").defaultsTo({0.0, 0.0, 0.0});
  table.real("reference_density")
      .doc("density whose weight the pressure does not show")
      .unit("mass/length^3")
      .atLeast(0)
      .defaultsTo(0);
}

void declareSources(ParameterTable& table) {
  table.expression("mixture_source").doc("mixture that arises, per volume and time").optional();
  table.expression("heat_source").doc("heat that arises, per volume").unit("power/length^3").optional();
  table.expression("mass_source")
      .doc("mass that arises, volatiles of coal for example")
      .unit("mass/(length^3 time)")
      .optional();
  const std::array docs{"heat, per volume and time", "mixture, per volume and time",
                        "mass, per volume and time"};
  for (std::size_t n = 0; n < kSourceLists.size(); ++n)
    table.textList(kSourceLists[n])
        .doc(std::string("variables of other components that are sources of ") + docs[n] +
             ", each with a sign or factor: \"-rmcrt.divQ\"")
        .optional();
  table.real("arising.mixture_fraction").doc("of the mass that arises").defaultsTo(1);
  table.real("arising.temperature").doc("of the mass that arises").unit("temperature").optional();
  table.real("arising.enthalpy")
      .doc("of the mass that arises, less that of the adiabatic mixture")
      .unit("energy/mass")
      .optional();
}

void declareModels(ParameterTable& table) {
  table.choice("turbulence", {"none", "smagorinsky", "dynamic"})
      .doc(
          "the viscosity of eddies that cells do not resolve; \"dynamic\": with a constant that the flow "
          "says")
      .defaultsTo("none");
  table.real("smagorinsky").doc("Smagorinsky's constant").atLeast(0).defaultsTo(0.17);
  table.real("turbulent_schmidt")
      .doc("viscosity of eddies over their diffusivity, of all that is carried")
      .above(0)
      .defaultsTo(0.7);
  table.expression("solid.where", {"x", "y", "z"})
      .doc("where it is not 0 at the centre of a cell, the cell is solid")
      .optional();
  table.expression("solid.temperature", {"x", "y", "z"})
      .doc("temperature of solid cells; where it is not given no heat passes into them")
      .optional();
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
  table.expression("initial.enthalpy", space)
      .doc("enthalpy at the start, less that of the adiabatic mixture; where given, it is carried along")
      .unit("energy/mass")
      .optional();
  for (const char* key : {"pressure", "density", "mixture_fraction", "temperature", "enthalpy"})
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

/// A number that is given as `usual` asks for nothing; without that any one asks for something.
void expectKey(const ParameterValues& values, const char* key, const char* needs, DeckDiagnostics& findings,
               std::optional<double> usual = 0.0) {
  if (!values.isGiven(key) || values.has(needs)) return;
  const double* const number = std::get_if<double>(&values.value(key));
  if (number != nullptr && usual == *number) return;
  findings.error(values.where(key),
                 std::string("lowmach.") + key + " needs lowmach." + needs + "; give that, or remove this");
}

void checkSettings(const ParameterValues& values, DeckDiagnostics& findings) {
  for (const char* key : {"mixing.density", "mixing.viscosity"})
    expectKey(values, key, "initial.mixture_fraction", findings, std::nullopt);
  for (const char* key : {"diffusivity", "mixture_source", "mixture_sources"})
    expectKey(values, key, "initial.mixture_fraction", findings);
  const bool enthalpy = carriesEnthalpy(values);
  const char* const heat = enthalpy ? "initial.enthalpy" : "initial.temperature";
  for (const char* key : {"heat_source", "sources"}) expectKey(values, key, heat, findings);
  if (!enthalpy) {
    for (const char* key : {"reference_temperature", "conductivity"}) expectKey(values, key, heat, findings);
    expectKey(values, "heat_capacity", heat, findings, 1.0);
  } else if (values.real("conductivity") != 0.0) {
    findings.error(
        values.where("conductivity"),
        "enthalpy spreads as the mixture does, by lowmach.diffusivity; remove lowmach.conductivity");
  }
  for (const char* key : kSourceLists) checkAddedSources(values, key, findings);
  const bool varies = values.has("mixing.density") || values.has("reference_temperature") ||
                      values.choice("state") == "table";
  for (const char* key : {"mass_source", "mass_sources"}) {
    if (values.has(key) && !varies)
      findings.error(values.where(key), std::string("lowmach.") + key +
                                            " needs a density that varies; give lowmach.mixing.density or "
                                            "lowmach.reference_temperature");
    if (values.has(key) && values.has("initial.temperature") && !values.has("arising.temperature"))
      findings.error(values.where(key),
                     std::string("lowmach.") + key +
                         " has to say how hot that mass is; give lowmach.arising.temperature");
  }
  if (values.has("solid.temperature") && !(values.has("solid.where") && values.has("initial.temperature")))
    findings.error(
        values.where("solid.temperature"),
        "lowmach.solid.temperature needs lowmach.solid.where and lowmach.initial.temperature; give "
        "both, or remove it");
}

void readModels(const ParameterValues& values, FlowSettings& settings) {
  EddyParams& eddies = settings.params.eddies;
  const std::string& model = values.choice("turbulence");
  eddies.model = model == "smagorinsky" ? Turbulence::Smagorinsky
                 : model == "dynamic"   ? Turbulence::Dynamic
                                        : Turbulence::None;
  eddies.constant = values.real("smagorinsky");
  eddies.perSchmidt = 1.0 / values.real("turbulent_schmidt");
  if (!values.has("solid.where")) return;
  settings.params.solids.areThere = true;
  const std::array where{values.expression("solid.where")};
  settings.fluid = Expression::ofParts("if($0 != 0, 0, 1)", where);
  settings.composed.push_back(*settings.fluid);
  CarriedSettings& heat = settings.carried[kHeat];
  if (!values.has("solid.temperature") || !heat.isThere) return;
  settings.params.solids.areHeld[kHeat] = true;
  const std::array parts{values.expression("solid.where"), values.expression("solid.temperature"),
                         heat.initial};
  heat.initial = Expression::ofParts("if($0 != 0, $1, $2)", parts);
  settings.composed.push_back(heat.initial);
}

/// What is carried as temperature takes heat over the capacity.
void readSources(const ParameterValues& values, LabelTable& labels, FlowSettings& settings) {
  settings.mass.expression = optionalOf(values, "mass_source");
  settings.mass.added = readAddedSources(values, "mass_sources", labels);
  settings.carried[kMixture].source = {optionalOf(values, "mixture_source"),
                                       readAddedSources(values, "mixture_sources", labels)};
  SourceSettings& heat = settings.carried[kHeat].source;
  heat = {optionalOf(values, "heat_source"), readAddedSources(values, "sources", labels)};
  settings.params.arising[kMixture] = values.real("arising.mixture_fraction");
  const bool enthalpy = settings.heat == CarriedHeat::Enthalpy;
  const char* const key = enthalpy ? "arising.enthalpy" : "arising.temperature";
  if (values.has(key)) settings.params.arising[kHeat] = values.real(key);
  if (enthalpy) return;
  const double capacity = values.real("heat_capacity");
  for (AddedSource& one : heat.added) one.factor /= capacity;
  if (!heat.expression) return;
  const std::array parts{*heat.expression, Expression::constant(capacity)};
  heat.expression = Expression::ofParts("$0/$1", parts);
  settings.composed.push_back(*heat.expression);
}

}  // namespace

void declareFlowSettings(ParameterTable& table) {
  declareState(table);
  declareFluid(table);
  declareSources(table);
  declareModels(table);
  declareFlowMethod(table);
  declareFlowState(table);
  declareFlowBoundaries(table);
  table.check(checkSettings);
  table.check(checkState);
}

FlowSettings readFlowSettings(const ParameterValues& values, const Geometry& geometry, LabelTable& labels) {
  FlowSettings settings;
  FlowParams& params = settings.params;
  settings.state = readState(values, params);
  const bool enthalpy = carriesEnthalpy(values);
  params.viscosity = values.real("viscosity");
  if (values.has("mixing.viscosity"))
    params.viscosityByMixture = values.real("mixing.viscosity") - params.viscosity;
  params.gravity = values.vector3("gravity");
  params.referenceDensity = values.real("reference_density");
  params.limited = values.choice("convection") == "limited";
  params.limitedScalars = values.choice("slopes") == "vanleer";
  settings.stages = {{0.0, 1.0}, {0.5, 1.0}};
  if (values.choice("stages") == "rk3") settings.stages = {{0.0, 1.0}, {0.75, 0.5}, {1.0 / 3.0, 1.0}};
  params.diffusivity[kMixture] = values.real("diffusivity");
  params.diffusivity[kHeat] =
      enthalpy ? params.diffusivity[kMixture] : values.real("conductivity") / values.real("heat_capacity");
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
  settings.carried[kMixture].name = "mixture_fraction";
  settings.carried[kHeat].name = enthalpy ? "enthalpy" : "temperature";
  for (CarriedSettings& carried : settings.carried) {
    carried.isThere = values.has("initial." + carried.name);
    if (!carried.isThere) continue;
    carried.initial = values.expression("initial." + carried.name);
    carried.exact = optionalOf(values, "exact." + carried.name);
  }
  if (settings.carried[kHeat].isThere)
    settings.heat = enthalpy ? CarriedHeat::Enthalpy : CarriedHeat::Temperature;
  readSources(values, labels, settings);
  readModels(values, settings);
  settings.boundaries = readFlowBoundaries(values, geometry, settings.heat);
  params.sides = settings.boundaries.kinds;
  params.isClosed = params.densityVaries && settings.boundaries.isClosed();
  return settings;
}

}  // namespace tessera
