#include "grid/boundary_condition.hpp"

#include <utility>

#include "core/deck/parameters.hpp"
#include "grid/geometry.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<BoundaryKind, const char*>, 3> kKinds{{{BoundaryKind::Dirichlet, "dirichlet"},
                                                                      {BoundaryKind::Neumann, "neumann"},
                                                                      {BoundaryKind::Outflow, "outflow"}}};

std::string keyOf(int side, const char* what) {
  return std::string("boundary.") + sideName(side) + "." + what;
}

BoundaryKind kindNamed(const std::string& name) {
  for (const auto& [kind, text] : kKinds) {
    if (name == text) return kind;
  }
  throw InternalError("\"" + name + "\" is not a kind of boundary condition; declare it as a choice");
}

bool isGiven(const ParameterValues& values, const std::string& key) {
  return values.where(key).origin() != DeckLocation::Origin::Default;
}

/// A value that the deck has and that says more than its default does: `resolved.toml` writes defaults out,
/// and is a deck as well.
bool saysMore(const ParameterValues& values, const std::string& key) {
  if (!isGiven(values, key)) return false;
  const Expression& value = values.expression(key);
  return !value.isConstant() || value(0, 0, 0, 0) != 0.0;
}

void refuseValueOfOutflow(const ParameterValues& values, DeckDiagnostics& findings) {
  for (int side = 0; side < kSides; ++side) {
    const std::string value = keyOf(side, "value");
    if (values.choice(keyOf(side, "type")) != "outflow" || !saysMore(values, value)) continue;
    findings.error(values.where(value),
                   "\"outflow\" takes no value; remove it, or use \"dirichlet\" or \"neumann\"");
  }
}

}  // namespace

const char* sideName(int side) {
  constexpr std::array<const char*, kSides> kNames{"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  return kNames[static_cast<std::size_t>(side)];
}

BoundaryConditions BoundaryConditions::everywhere(BoundaryKind kind, double value) {
  BoundaryConditions conditions;
  conditions.sides.fill(SideCondition{kind, Expression::constant(value)});
  return conditions;
}

void declareBoundaries(ParameterTable& table, BoundaryKind byDefault) {
  std::vector<std::string> names;
  std::string defaultName;
  for (const auto& [kind, text] : kKinds) {
    names.emplace_back(text);
    if (kind == byDefault) defaultName = text;
  }
  for (int side = 0; side < kSides; ++side) {
    const std::string place = std::string("the side ") + sideName(side) + " of the domain";
    table.choice(keyOf(side, "type"), names)
        .doc("what holds on " + place + ": a value, an outward normal derivative, or free outflow")
        .defaultsTo(defaultName);
    table.expression(keyOf(side, "value"))
        .doc("the value (dirichlet) or outward normal derivative (neumann) on " + place)
        .defaultsTo(0);
  }
  table.check(refuseValueOfOutflow);
}

BoundaryConditions readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                  BoundaryKind byDefault) {
  BoundaryConditions conditions;
  DeckDiagnostics findings;
  for (int side = 0; side < kSides; ++side) {
    const int axis = side / 2;
    const bool periodic = geometry.periodic[static_cast<std::size_t>(axis)];
    if (!periodic) {
      conditions.sides[static_cast<std::size_t>(side)] = SideCondition{
          kindNamed(values.choice(keyOf(side, "type"))), values.expression(keyOf(side, "value"))};
      if (geometry.active(axis)) continue;
    }
    const std::string type = keyOf(side, "type");
    const std::string value = keyOf(side, "value");
    const bool otherType = isGiven(values, type) && kindNamed(values.choice(type)) != byDefault;
    for (const std::string& key : {type, value}) {
      if (key == type ? !otherType : !saysMore(values, value)) continue;
      findings.error(values.where(key),
                     std::string("axis ") + "xyz"[axis] +
                         (periodic ? " is periodic, so " : " has one cell and is not resolved, so ") +
                         sideName(side) + " has no boundary; remove this key or " +
                         (periodic ? "set grid.periodic to false there" : "give the axis more grid.cells"));
    }
  }
  findings.throwIfErrors();
  return conditions;
}

}  // namespace tessera
