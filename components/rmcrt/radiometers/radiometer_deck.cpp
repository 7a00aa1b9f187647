#include "components/rmcrt/radiometers/radiometer_deck.hpp"

#include <cmath>
#include <set>
#include <string>

namespace tessera {
namespace {

void checkRadiometer(const ParameterValues& values, DeckDiagnostics& findings) {
  const std::string& name = values.text("name");
  if (!isLabelName(name))
    findings.error(values.where("name"), "a radiometer is called \"" + name +
                                             "\", which no column can be called; give letters, digits and "
                                             "underscores such as \"burner_2\"");
  const Real3 direction = values.vector3("direction");
  if (direction.x == 0.0 && direction.y == 0.0 && direction.z == 0.0)
    findings.error(values.where("direction"),
                   "the radiometer \"" + name + "\" looks nowhere; give a direction such as [1, 0, 0]");
}

void checkNamesOfRadiometers(const ParameterValues& values, DeckDiagnostics& findings) {
  std::set<std::string> names;
  for (const ParameterValues& entry : values.tables("radiometer")) {
    if (!names.insert(entry.text("name")).second)
      findings.error(entry.where("name"), "two radiometers are called \"" + entry.text("name") +
                                              "\"; give each a name of its own");
  }
}

Real3 across(const Real3& a, const Real3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

Real3 ofLengthOne(Real3 v) {
  const double largest = std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  for (int d = 0; d < kAxes; ++d) v[d] /= largest;
  const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  for (int d = 0; d < kAxes; ++d) v[d] /= length;
  return v;
}

/// The axis along which a direction goes least.
Real3 leastAxis(const Real3& direction) {
  int least = 0;
  for (int d = 1; d < kAxes; ++d) least = std::abs(direction[d]) < std::abs(direction[least]) ? d : least;
  Real3 axis;
  axis[least] = 1.0;
  return axis;
}

bool isWithin(const Geometry& geometry, const Real3& place) {
  for (int d = 0; d < kAxes; ++d) {
    if (place[d] < geometry.lower[d] || place[d] > geometry.upper[d]) return false;
  }
  return true;
}

}  // namespace

void declareRadiometerTables(ParameterTable& table) {
  ParameterTable& entry = table.arrayOf("radiometer", "an instrument that looks at radiation in a cone");
  entry.text("name").doc("its column of the history is rmcrt.radiometer_NAME").required();
  entry.realVector("position", 3).doc("where it stands").unit("length").required();
  entry.realVector("direction", 3).doc("where it looks; of any length").required();
  entry.real("view_angle")
      .doc("from one border of its view to the other one; 180: all before it")
      .unit("degrees")
      .above(0)
      .atMost(180)
      .defaultsTo(180);
  entry.integer("rays").doc("rays at each line of the history").range(1, 1 << 30).defaultsTo(1000);
  entry.check(checkRadiometer);
  table.check(checkNamesOfRadiometers);
}

std::vector<Radiometer> radiometersOf(const ParameterValues& values, ComponentSetup& setup) {
  DeckDiagnostics findings;
  std::vector<Radiometer> radiometers;
  for (const ParameterValues& entry : values.tables("radiometer")) {
    Radiometer radiometer;
    radiometer.name = entry.text("name");
    radiometer.reading = setup.labels.reduction("rmcrt.radiometer_" + radiometer.name);
    radiometer.place = entry.vector3("position");
    radiometer.direction = ofLengthOne(entry.vector3("direction"));
    radiometer.right = ofLengthOne(across(radiometer.direction, leastAxis(radiometer.direction)));
    radiometer.up = across(radiometer.direction, radiometer.right);
    const double sine = plainSineCosine(entry.real("view_angle") / 720.0).sine;
    radiometer.sineSquared = sine * sine;
    radiometer.rays = static_cast<std::uint32_t>(entry.integer("rays"));
    radiometer.number = static_cast<std::uint32_t>(radiometers.size());
    if (!isWithin(setup.geometry, radiometer.place))
      findings.error(entry.where("position"), "the radiometer \"" + radiometer.name +
                                                  "\" stands outside of the domain; give a position "
                                                  "between grid.lower and grid.upper");
    radiometers.push_back(radiometer);
  }
  findings.throwIfErrors();
  return radiometers;
}

}  // namespace tessera
