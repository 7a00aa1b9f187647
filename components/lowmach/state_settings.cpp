#include "components/lowmach/state_settings.hpp"

#include <array>
#include <string>

#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr std::array kFlameKeys{"flame.stoichiometric", "flame.temperature", "flame.heat"};

void expectFor(const ParameterValues& values, const char* state, const char* key, DeckDiagnostics& findings) {
  const bool isIt = values.choice("state") == state;
  if (isIt == values.has(key)) return;
  if (isIt)
    findings.error(values.where("state"),
                   std::string("lowmach.state = \"") + state + "\" needs lowmach." + key + "; give it");
  else
    findings.error(values.where(key), std::string("lowmach.") + key + " is of lowmach.state = \"" + state +
                                          "\"; give that, or remove this");
}

void readMixing(const ParameterValues& values, FlowParams& params) {
  if (values.has("density")) params.density = values.real("density");
  params.mixing = {1.0 / params.density, 0.0, 0.0};
  if (values.has("mixing.density")) {
    const std::vector<double>& both = values.reals("mixing.density");
    params.mixing.v0 = 1.0 / both[0];
    params.mixing.dv = 1.0 / both[1] - 1.0 / both[0];
  }
  if (values.has("reference_temperature"))
    params.mixing.perTemperature = 1.0 / values.real("reference_temperature");
  params.densityVaries = values.has("mixing.density") || values.has("reference_temperature");
}

FlameState flameOf(const ParameterValues& values, const MixingState& mixing) {
  const std::vector<double>& both = values.reals("flame.temperature");
  FlameState flame;
  flame.v0 = mixing.v0;
  flame.dv = mixing.dv;
  flame.perTemperature = mixing.perTemperature;
  flame.ofOxidiser = both[0];
  flame.ofFuelMore = both[1] - both[0];
  flame.capacity = values.real("heat_capacity");
  flame.rise = values.real("flame.heat") / flame.capacity;
  flame.stoichiometric = values.real("flame.stoichiometric");
  if (values.has("flame.absorption")) flame.ofProducts = values.real("flame.absorption");
  return flame;
}

}  // namespace

bool carriesEnthalpy(const ParameterValues& values) { return values.choice("state") != "mixing"; }

void declareState(ParameterTable& table) {
  table.choice("state", {"mixing", "flame", "table"})
      .doc(
          "how density follows from the mixture fraction and heat: two streams that mix, a flame of fuel and "
          "oxidiser, or a table from a file")
      .defaultsTo("mixing");
  table.text("state_file").doc("of \"table\": the file, in the folder where the run begins").optional();
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
  table.real("reference_temperature")
      .doc("temperature at which density is what the deck says; it goes as 1 over the temperature then")
      .above(0)
      .optional();
  table.real("flame.stoichiometric")
      .doc("of \"flame\": the mixture fraction at which neither fuel nor oxidiser is left")
      .range(1e-6, 0.999999)
      .optional();
  table.realVector("flame.temperature", 2)
      .doc("of \"flame\": temperatures of oxidiser and fuel before they burn")
      .unit("temperature")
      .above(0)
      .optional();
  table.real("flame.heat")
      .doc("of \"flame\": heat that a unit of mass of fuel sets free")
      .unit("energy/mass")
      .atLeast(0)
      .optional();
  table.real("flame.absorption")
      .doc("of \"flame\": absorption coefficient of the stoichiometric mixture, for radiation")
      .unit("1/length")
      .atLeast(0)
      .optional();
}

void checkState(const ParameterValues& values, DeckDiagnostics& findings) {
  for (const char* key : kFlameKeys) expectFor(values, "flame", key, findings);
  expectFor(values, "table", "state_file", findings);
  const std::string& state = values.choice("state");
  if (values.has("flame.absorption") && state != "flame")
    findings.error(values.where("flame.absorption"),
                   "lowmach.flame.absorption is of lowmach.state = \"flame\"; give that, or remove this");
  for (const char* key : {"mixing.density", "reference_temperature"}) {
    if (state == "flame" && !values.has(key))
      findings.error(values.where("state"), std::string("lowmach.state = \"flame\" needs lowmach.") + key +
                                                ", of fuel and oxidiser before they burn; give it");
    if (state == "table" && values.has(key))
      findings.error(values.where(key), std::string("the table of lowmach.state_file gives the density "
                                                    "already; remove lowmach.") +
                                            key);
  }
  for (const char* key : {"mixing.density", "state_file"}) {
    if (!values.has("density") || !values.has(key)) continue;
    findings.error(values.where("density"),
                   std::string("lowmach.") + key + " gives the density already; remove lowmach.density");
  }
  if (state != "mixing" && !values.has("initial.mixture_fraction"))
    findings.error(values.where("state"),
                   "lowmach.state = \"" + state + "\" needs lowmach.initial.mixture_fraction; give that");
  const bool enthalpy = carriesEnthalpy(values);
  const char* const other = enthalpy ? "initial.temperature" : "initial.enthalpy";
  if (values.has(other))
    findings.error(values.where(other),
                   "with lowmach.state = \"" + state + "\" heat is carried as " +
                       (enthalpy ? "enthalpy" : "temperature") + "; give lowmach.initial." +
                       (enthalpy ? "enthalpy" : "temperature") + " in place of lowmach." + other);
}

StateSettings readState(const ParameterValues& values, FlowParams& params) {
  StateSettings settings;
  readMixing(values, params);
  const std::string& state = values.choice("state");
  if (state == "flame") {
    params.state = StateKind::Flame;
    params.flame = flameOf(values, params.mixing);
    settings.has = {true, false, values.has("flame.absorption")};
  }
  if (state == "table") {
    params.state = StateKind::Table;
    params.densityVaries = true;
    StateTable table = readStateTable(values.text("state_file"));
    if (values.has("initial.enthalpy") && table.shape.heats == 1) {
      throw DeckError(values.where("initial.enthalpy").text() + ": error: the table " +
                      values.text("state_file") +
                      " has no column \"enthalpy\"; add one, or remove lowmach.initial.enthalpy");
    }
    params.tableShape = table.shape;
    settings.has = table.has;
    settings.table = std::move(table.numbers);
  }
  return settings;
}

}  // namespace tessera
