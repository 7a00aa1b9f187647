#include "grid/boundary_condition.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/deck/parameters.hpp"
#include "core/text/nearest_name.hpp"
#include "grid/geometry.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<BoundaryKind, const char*>, kBoundaryKinds> kKinds{
    {{BoundaryKind::Dirichlet, "dirichlet"},
     {BoundaryKind::Neumann, "neumann"},
     {BoundaryKind::Outflow, "outflow"},
     {BoundaryKind::Given, "given"},
     {BoundaryKind::Reflect, "reflect"}}};

constexpr const char* kParts = "boundary_part";

std::string keyOf(int side, const char* what) {
  return std::string("boundary.") + sideName(side) + "." + what;
}

BoundaryKind kindNamed(const std::string& name) {
  for (const auto& [kind, text] : kKinds) {
    if (name == text) return kind;
  }
  throw InternalError("\"" + name + "\" is not a kind of boundary condition; declare it as a choice");
}

/// A value that the deck has and that says more than its default does: `resolved.toml` writes defaults out,
/// and is a deck as well.
bool saysMore(const ParameterValues& values, const std::string& key) {
  if (!values.isGiven(key)) return false;
  const Expression& value = values.expression(key);
  return !value.isConstant() || value(0, 0, 0, 0) != 0.0;
}

void refuseValue(const ParameterValues& values, const std::string& type, const std::string& value,
                 DeckDiagnostics& findings) {
  const std::string& kind = values.choice(type);
  if ((kind != "outflow" && kind != "reflect") || !saysMore(values, value)) return;
  findings.error(values.where(value), "\"" + kind +
                                          "\" takes no value; remove it, or use \"dirichlet\" or "
                                          "\"neumann\"");
}

void refuseValues(const ParameterValues& values, DeckDiagnostics& findings) {
  for (int side = 0; side < kSides; ++side)
    refuseValue(values, keyOf(side, "type"), keyOf(side, "value"), findings);
  for (const ParameterValues& part : boundaryParts(values)) refuseValue(part, "type", "value", findings);
}

std::vector<std::string> kindNames() {
  std::vector<std::string> names;
  for (const auto& [kind, text] : kKinds) names.emplace_back(text);
  return names;
}

std::vector<std::string> sideNames() {
  std::vector<std::string> names;
  for (int side = 0; side < kSides; ++side) names.emplace_back(sideName(side));
  return names;
}

void declareParts(ParameterTable& table, BoundaryKeys keys) {
  ParameterTable& part = declareBoundaryParts(table);
  if (keys == BoundaryKeys::OfComponents) {
    part.text("component").doc("the component that it is for; all where left out").optional();
  }
  part.expression("within")
      .doc("where on the side it holds: not 0, for example \"x < 0.5\"; everywhere where left out")
      .optional();
  part.choice("type", kindNames()).doc("what holds there, as for a whole side").required();
  part.expression("value")
      .doc("the value (dirichlet, given) or outward normal derivative (neumann)")
      .defaultsTo(0);
}

/// What `within` gives at the faces of the cells of level 0 on one side.
struct PartLook {
  bool holds = false;             ///< it is not 0 at some of them
  bool isWhole = true;            ///< all were looked at
  std::optional<Real3> noNumber;  ///< where it is NaN
};

/// Distances of the cells to look at: a side that is too large to be looked at in a moment is looked at in
/// places.
Extent stepsOver(const Extent& cells) {
  constexpr std::int64_t kMostCells = std::int64_t{1} << 18;
  constexpr std::int64_t kMostOfAxis = 512;
  Extent steps{1, 1, 1};
  const double all =
      static_cast<double>(cells.i) * static_cast<double>(cells.j) * static_cast<double>(cells.k);
  if (all <= static_cast<double>(kMostCells)) return steps;
  for (int d = 0; d < kAxes; ++d) steps[d] = (cells[d] + kMostOfAxis - 1) / kMostOfAxis;
  return steps;
}

PartLook lookAt(const Expression& within, const Geometry& geometry, int side) {
  const int axis = side / 2;
  Expression::Evaluator at = within.evaluator();
  Extent n = geometry.cells;
  n[axis] = 1;
  const Extent steps = stepsOver(n);
  PartLook look;
  look.isWhole = steps == Extent{1, 1, 1};
  Index x;
  for (x.k = 0; x.k < n.k; x.k += steps.k) {
    for (x.j = 0; x.j < n.j; x.j += steps.j) {
      for (x.i = 0; x.i < n.i; x.i += steps.i) {
        Real3 p;
        for (int d = 0; d < kAxes; ++d) {
          const double h = (geometry.upper[d] - geometry.lower[d]) / static_cast<double>(geometry.cells[d]);
          p[d] = geometry.lower[d] + (static_cast<double>(x[d]) + 0.5) * h;
        }
        p[axis] = side % 2 == 1 ? geometry.upper[axis] : geometry.lower[axis];
        const double value = at(p.x, p.y, p.z, 0.0);
        if (std::isnan(value) && !look.noNumber) look.noNumber = p;
        look.holds = look.holds || value != 0.0;
      }
    }
  }
  return look;
}

/// Reads the parts of sides one after the other into the conditions of each component.
class PartReader {
 public:
  PartReader(const ParameterValues& values, const Geometry& geometry,
             std::span<const ComponentInfo> components, std::vector<BoundaryConditions>& conditions,
             DeckDiagnostics& findings)
      : values_(values),
        geometry_(geometry),
        components_(components),
        conditions_(conditions),
        findings_(findings),
        whole_(conditions.size() * kSides, false) {}

  void read() {
    for (const ParameterValues& part : boundaryParts(values_)) {
      const std::optional<int> side = sideOfPart(part, geometry_, findings_);
      if (!side) continue;
      const int one = componentOf(part);
      for (int c = 0; c < static_cast<int>(conditions_.size()); ++c) {
        if (one == kAll || one == c) add(part, *side, c);
      }
    }
  }

 private:
  static constexpr int kAll = -1;
  static constexpr int kNone = -2;

  int componentOf(const ParameterValues& part) {
    if (components_.empty() || !part.has("component")) return kAll;
    std::vector<std::string> names;
    for (const ComponentInfo& component : components_) names.push_back(component.name);
    const std::string& name = part.text("component");
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
    findings_.error(part.where("component"), "there is no component \"" + name + "\"; use one of " + list);
    return kNone;
  }

  void add(const ParameterValues& part, int side, int component) {
    const auto at = static_cast<std::size_t>(component);
    const auto s = static_cast<std::size_t>(side);
    if (whole_[at * kSides + s]) {
      findings_.error(part.where("side"), std::string("a table above this one holds on all of ") +
                                              sideName(side) +
                                              ", so this one never does; move it up, or remove it");
      return;
    }
    SideCondition condition{kindNamed(part.choice("type")), part.expression("value")};
    condition.sign = signOf(condition.kind, component, side);
    if (!part.has("within")) {
      conditions_[at].sides[s] = condition;
      whole_[at * kSides + s] = true;
    } else {
      condition.within = part.expression("within");
      addPart(conditions_[at], side, std::move(condition), part, findings_);
    }
  }

  int signOf(BoundaryKind kind, int component, int side) const {
    const bool normal =
        !components_.empty() && components_[static_cast<std::size_t>(component)].axis == side / 2;
    return kind == BoundaryKind::Reflect && normal ? -1 : 1;
  }

  const ParameterValues& values_;
  const Geometry& geometry_;
  std::span<const ComponentInfo> components_;
  std::vector<BoundaryConditions>& conditions_;
  DeckDiagnostics& findings_;
  std::vector<bool> whole_;  ///< by component and side: a part without an end
};

/// What holds on whole sides.
BoundaryConditions readSides(const ParameterValues& values, const Geometry& geometry, BoundaryKind byDefault,
                             DeckDiagnostics& findings) {
  BoundaryConditions conditions;
  for (int side = 0; side < kSides; ++side) {
    const int axis = side / 2;
    if (!geometry.periodic[static_cast<std::size_t>(axis)]) {
      conditions.sides[static_cast<std::size_t>(side)] = SideCondition{
          kindNamed(values.choice(keyOf(side, "type"))), values.expression(keyOf(side, "value"))};
      if (geometry.active(axis)) continue;
    }
    const std::string type = keyOf(side, "type");
    const std::string value = keyOf(side, "value");
    const bool otherType = values.isGiven(type) && kindNamed(values.choice(type)) != byDefault;
    for (const std::string& key : {type, value}) {
      if (key == type ? !otherType : !saysMore(values, value)) continue;
      findings.error(values.where(key), reasonWithoutBoundary(geometry, side));
    }
  }
  return conditions;
}

}  // namespace

int BoundaryConditions::count(int side) const {
  const auto s = static_cast<std::size_t>(side);
  return static_cast<int>(parts[s].size()) + (sides[s] ? 1 : 0);
}

const SideCondition& BoundaryConditions::condition(int side, int number) const {
  const auto s = static_cast<std::size_t>(side);
  const auto n = static_cast<std::size_t>(number);
  return n < parts[s].size() ? parts[s][n] : *sides[s];
}

const char* sideName(int side) {
  constexpr std::array<const char*, kSides> kNames{"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  return kNames[static_cast<std::size_t>(side)];
}

BoundaryConditions BoundaryConditions::everywhere(BoundaryKind kind, double value) {
  BoundaryConditions conditions;
  conditions.sides.fill(SideCondition{kind, Expression::constant(value)});
  return conditions;
}

std::string reasonWithoutBoundary(const Geometry& geometry, int side) {
  const int axis = side / 2;
  const bool periodic = geometry.periodic[static_cast<std::size_t>(axis)];
  if (geometry.active(axis) && !periodic) return {};
  return std::string("axis ") + "xyz"[axis] +
         (periodic ? " is periodic, so " : " has one cell and is not resolved, so ") + sideName(side) +
         " has no boundary; remove this key or " +
         (periodic ? "set grid.periodic to false there" : "give the axis more grid.cells");
}

ParameterTable& declareBoundaryParts(ParameterTable& table) {
  ParameterTable& part = table.arrayOf(
      kParts,
      "a condition of a part of a side; of several the first that holds counts, and elsewhere that of "
      "the whole side");
  part.choice("side", sideNames()).doc("the side of the domain").required();
  return part;
}

const std::vector<ParameterValues>& boundaryParts(const ParameterValues& values) {
  return values.tables(kParts);
}

std::optional<int> sideOfPart(const ParameterValues& part, const Geometry& geometry,
                              DeckDiagnostics& findings) {
  const std::vector<std::string> names = sideNames();
  const auto side =
      static_cast<int>(std::find(names.begin(), names.end(), part.choice("side")) - names.begin());
  const std::string none = reasonWithoutBoundary(geometry, side);
  if (!none.empty()) {
    findings.error(part.where("side"), none);
    return std::nullopt;
  }
  if (!part.has("within")) return side;
  const Expression& within = part.expression("within");
  if (within.dependsOnTime()) return side;
  const PartLook look = lookAt(within, geometry, side);
  if (look.noNumber) {
    std::ostringstream place;
    place << "(" << look.noNumber->x << ", " << look.noNumber->y << ", " << look.noNumber->z << ")";
    findings.error(part.where("within"), "\"" + within.text() + "\" gives no number at " + place.str() +
                                             " on the side " + sideName(side) +
                                             "; it must give one everywhere on it");
    return std::nullopt;
  }
  if (look.holds || !look.isWhole) return side;
  findings.error(part.where("within"), "\"" + within.text() + "\" holds at no cell of the side " +
                                           sideName(side) + "; give a part of it, or remove this table");
  return std::nullopt;
}

bool addPart(BoundaryConditions& conditions, int side, SideCondition condition, const ParameterValues& part,
             DeckDiagnostics& findings) {
  std::vector<SideCondition>& parts = conditions.parts[static_cast<std::size_t>(side)];
  if (parts.size() == kMostParts) {
    findings.error(part.where("side"), std::string("the side ") + sideName(side) + " has more than " +
                                           std::to_string(kMostParts) +
                                           " parts; join some of them in one expression");
    return false;
  }
  parts.push_back(std::move(condition));
  return true;
}

void declareBoundaries(ParameterTable& table, BoundaryKind byDefault, BoundaryKeys keys) {
  std::string defaultName;
  for (const auto& [kind, text] : kKinds) {
    if (kind == byDefault) defaultName = text;
  }
  for (int side = 0; side < kSides; ++side) {
    const std::string place = std::string("the side ") + sideName(side) + " of the domain";
    table.choice(keyOf(side, "type"), kindNames())
        .doc("what holds on " + place +
             ": a value on it or in the halo, an outward normal derivative, free outflow, or a mirror")
        .defaultsTo(defaultName);
    table.expression(keyOf(side, "value"))
        .doc("the value (dirichlet, given) or outward normal derivative (neumann) on " + place)
        .defaultsTo(0);
  }
  declareParts(table, keys);
  table.check(refuseValues);
}

BoundaryConditions readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                  BoundaryKind byDefault) {
  DeckDiagnostics findings;
  std::vector<BoundaryConditions> conditions{readSides(values, geometry, byDefault, findings)};
  PartReader(values, geometry, {}, conditions, findings).read();
  findings.throwIfErrors();
  return conditions.front();
}

std::vector<BoundaryConditions> readBoundaries(const ParameterValues& values, const Geometry& geometry,
                                               BoundaryKind byDefault,
                                               std::span<const ComponentInfo> components) {
  DeckDiagnostics findings;
  std::vector<BoundaryConditions> conditions(components.size(),
                                             readSides(values, geometry, byDefault, findings));
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (int side = 0; side < kSides; ++side) {
      auto& condition = conditions[c].sides[static_cast<std::size_t>(side)];
      if (condition && components[c].axis == side / 2) condition->sign = -1;
    }
  }
  PartReader(values, geometry, components, conditions, findings).read();
  findings.throwIfErrors();
  return conditions;
}

}  // namespace tessera
