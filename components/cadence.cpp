#include "components/cadence.hpp"

namespace tessera {
namespace {

void checkCadence(const ParameterValues& values, DeckDiagnostics& findings) {
  if (!values.isGiven("every") || !values.isGiven("every_time")) return;
  findings.error(values.where("every_time"), values.table() + ".every and " + values.table() +
                                                 ".every_time cannot both be given; keep one of them");
}

}  // namespace

void declareCadence(ParameterTable& table, const std::string& what) {
  table.integer("every")
      .doc("how often " + what + ": every so many steps, the first one included")
      .atLeast(1)
      .optional();
  table.real("every_time")
      .unit("time")
      .doc("how often " + what + ": in the first step that begins at a multiple of so much time or after it")
      .above(0)
      .optional();
  table.check(checkCadence);
}

Cadence cadenceOf(const ParameterValues& values) {
  if (values.has("every_time")) return everyTime(values.real("every_time"));
  return everySteps(values.has("every") ? values.integer("every") : 1);
}

}  // namespace tessera
