#include "components/lowmach/flow_boundaries.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"

namespace tessera {
namespace {

const std::vector<std::string> kFlowSides{"wall", "slip", "inlet", "outlet"};
constexpr std::array kAxisNames{"x", "y", "z"};

std::string flowPrefix(int side) { return std::string("boundary.") + sideName(side) + "."; }

void declareSide(ParameterTable& table, const std::string& prefix) {
  for (const char* axis : kAxisNames) {
    table.expression(prefix + "velocity." + axis)
        .doc("of \"inlet\": the velocity along this axis; of \"wall\": that of the wall itself, along it")
        .unit("length/time")
        .defaultsTo(0);
  }
  table.expression(prefix + "mixture_fraction")
      .doc("of \"inlet\": the mixture fraction of what enters")
      .defaultsTo(0);
  table.expression(prefix + "temperature")
      .doc(
          "of \"inlet\": the temperature of what enters; of \"wall\": that of the wall; none: no heat passes")
      .optional();
  table.expression(prefix + "enthalpy")
      .doc("of \"inlet\": the enthalpy of what enters, less that of the adiabatic mixture; 0 where not given")
      .unit("energy/mass")
      .optional();
}

class FlowSideReader {
 public:
  FlowSideReader(const ParameterValues& values, const Geometry& geometry, CarriedHeat heat)
      : values_(values), geometry_(geometry), heat_(heat) {}

  FlowBoundaries read() {
    all_.kinds.fill(FlowSide::Periodic);
    for (int side = 0; side < kSides; ++side) whole(side);
    for (const ParameterValues& one : boundaryParts(values_)) part(one);
    findings_.throwIfErrors();
    return std::move(all_);
  }

 private:
  void whole(int side) {
    const std::string prefix = flowPrefix(side);
    const std::string type = prefix + "type";
    const std::string reason = reasonWithoutBoundary(geometry_, side);
    if (!reason.empty() && values_.isGiven(type) && values_.choice(type) != kFlowSides.front())
      findings_.error(values_.where(type), reason);
    if (geometry_.periodic[static_cast<std::size_t>(side / 2)]) return;
    if (geometry_.active(side / 2)) all_.kinds[static_cast<std::size_t>(side)] = kindOf(values_.choice(type));
    put(side, values_, prefix, {});
    if (values_.has(prefix + "pressure") && values_.choice(type) != "outlet")
      findings_.error(values_.where(prefix + "pressure"), "only an \"outlet\" has a pressure; remove it");
  }

  void part(const ParameterValues& one) {
    const std::optional<int> side = sideOfPart(one, geometry_, findings_);
    if (!side) return;
    const std::string& type = one.choice("type");
    FlowSide& kind = all_.kinds[static_cast<std::size_t>(*side)];
    if (type == "outlet" || kind == FlowSide::Open) {
      findings_.error(one.where("type"), std::string("an \"outlet\" takes a whole side; give ") +
                                             sideName(*side) +
                                             " the type of most of it, and another side \"outlet\"");
      return;
    }
    if (kindOf(type) == FlowSide::Given) kind = FlowSide::Given;
    put(*side, one, "", one.expression("within"));
  }

  static FlowSide kindOf(const std::string& type) {
    return type == "inlet" ? FlowSide::Given : type == "outlet" ? FlowSide::Open : FlowSide::Closed;
  }

  /// The condition of each variable, on a whole side or on a part of it.
  void put(int side, const ParameterValues& values, const std::string& prefix,
           const std::optional<Expression>& within) {
    const std::string& type = values.choice(prefix + "type");
    const int axis = side / 2;
    const auto given = [&](int d) {
      return SideCondition{BoundaryKind::Dirichlet,
                           values.expression(prefix + "velocity." + kAxisNames[static_cast<std::size_t>(d)])};
    };
    const SideCondition flat{BoundaryKind::Neumann, {}};
    for (int d = 0; d < kAxes; ++d) {
      SideCondition condition = flat;
      if (d == axis)
        condition = SideCondition{};
      else if (type == "wall" || type == "inlet")
        condition = given(d);
      add(all_.velocity[static_cast<std::size_t>(d)], side, condition, values, within);
    }
    add(all_.entering, side, type == "inlet" ? given(axis) : SideCondition{BoundaryKind::Dirichlet, {}},
        values, within);
    putCarried(side, values, prefix, within);
    if (within) return;  // outlets take whole sides
    add(all_.continued, side, SideCondition{}, values, within);
    const bool open = type == "outlet";
    const Expression outside =
        values.has(prefix + "pressure") ? values.expression(prefix + "pressure") : Expression();
    add(all_.pressure, side, open ? SideCondition{BoundaryKind::Dirichlet, outside} : flat, values, within);
  }

  void putCarried(int side, const ParameterValues& values, const std::string& prefix,
                  const std::optional<Expression>& within) {
    const std::string& type = values.choice(prefix + "type");
    const bool enters = type == "inlet";
    const SideCondition otherwise =
        type == "outlet" ? SideCondition{} : SideCondition{BoundaryKind::Neumann, {}};
    add(all_.carried[kMixture], side,
        enters ? SideCondition{BoundaryKind::Given, values.expression(prefix + "mixture_fraction")}
               : otherwise,
        values, within);
    add(all_.carried[kHeat], side, heatOf(values, prefix).value_or(otherwise), values, within);
  }

  /// The condition of heat; empty where the deck has none.
  std::optional<SideCondition> heatOf(const ParameterValues& values, const std::string& prefix) {
    const bool enters = values.choice(prefix + "type") == "inlet";
    const bool isWall = values.choice(prefix + "type") == "wall";
    const bool hasTemperature = values.has(prefix + "temperature");
    const bool hasEnthalpy = values.has(prefix + "enthalpy");
    if (heat_ == CarriedHeat::Temperature && enters && !hasTemperature)
      findings_.error(values.where(prefix + "type"),
                      "an \"inlet\" of fluid with a temperature has to say which; give it temperature = ...");
    if (heat_ == CarriedHeat::Enthalpy && hasTemperature)
      findings_.error(values.where(prefix + "temperature"),
                      "this fluid carries enthalpy, and no temperature can be given; remove it, or give an "
                      "\"inlet\" its enthalpy = ...");
    if (hasEnthalpy && (heat_ != CarriedHeat::Enthalpy || !enters))
      findings_.error(values.where(prefix + "enthalpy"),
                      "only an \"inlet\" of fluid that carries enthalpy has one; remove it");
    if (heat_ == CarriedHeat::Enthalpy && enters)
      return SideCondition{BoundaryKind::Given,
                           hasEnthalpy ? values.expression(prefix + "enthalpy") : Expression()};
    if (hasTemperature && (enters || isWall))
      return SideCondition{enters ? BoundaryKind::Given : BoundaryKind::Dirichlet,
                           values.expression(prefix + "temperature")};
    return std::nullopt;
  }

  void add(BoundaryConditions& conditions, int side, SideCondition condition, const ParameterValues& values,
           const std::optional<Expression>& within) {
    condition.within = within;
    if (within) {
      addPart(conditions, side, std::move(condition), values, findings_);
    } else {
      conditions.sides[static_cast<std::size_t>(side)] = std::move(condition);
    }
  }

  const ParameterValues& values_;
  const Geometry& geometry_;
  const CarriedHeat heat_;
  DeckDiagnostics findings_;
  FlowBoundaries all_;
};

}  // namespace

bool FlowBoundaries::hasGiven() const {
  return std::find(kinds.begin(), kinds.end(), FlowSide::Given) != kinds.end();
}

bool FlowBoundaries::isClosed() const {
  return std::none_of(kinds.begin(), kinds.end(),
                      [](FlowSide kind) { return kind == FlowSide::Given || kind == FlowSide::Open; });
}

void declareFlowBoundaries(ParameterTable& table) {
  for (int side = 0; side < kSides; ++side) {
    table.choice(flowPrefix(side) + "type", kFlowSides)
        .doc(std::string("what the side ") + sideName(side) +
             " of the domain is: a wall, one without friction, where fluid enters, or where it leaves")
        .defaultsTo("wall");
    declareSide(table, flowPrefix(side));
    table.expression(flowPrefix(side) + "pressure")
        .doc("of \"outlet\": the pressure; 0 where it is not given")
        .optional();
  }
  ParameterTable& part = declareBoundaryParts(table);
  part.expression("within").doc("where on the side it holds: not 0, for example \"x < 0.5\"").required();
  part.choice("type", kFlowSides).doc("what holds there: \"wall\", \"slip\" or \"inlet\"").required();
  declareSide(part, "");
}

FlowBoundaries readFlowBoundaries(const ParameterValues& values, const Geometry& geometry, CarriedHeat heat) {
  return FlowSideReader(values, geometry, heat).read();
}

}  // namespace tessera
