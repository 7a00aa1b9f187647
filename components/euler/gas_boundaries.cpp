#include "components/euler/gas_boundaries.hpp"

#include <array>
#include <string>

#include "components/euler/euler_kernels.hpp"

namespace tessera {
namespace {

const std::vector<std::string> kKinds{"outflow", "reflect", "inflow"};

std::string prefixOf(int side) { return std::string("boundary.") + sideName(side) + "."; }

/// The state of one condition, by the prefix of its keys.
void declareState(ParameterTable& table, const std::string& prefix) {
  table.expression(prefix + "density").doc("of \"inflow\": the density").unit("mass/length^3").defaultsTo(1);
  for (const char* axis : {"x", "y", "z"}) {
    table.expression(prefix + "velocity." + axis)
        .doc("of \"inflow\": the velocity along this axis")
        .unit("length/time")
        .defaultsTo(0);
  }
  table.expression(prefix + "pressure").doc("of \"inflow\": the pressure").unit("pressure").defaultsTo(1);
}

/// The same kind of condition for all components, and their values.
class ConditionReader {
 public:
  ConditionReader(double gamma, std::span<const Expression> inflow) : gamma_(gamma), inflow_(inflow) {}

  std::vector<SideCondition> read(const ParameterValues& values, const std::string& prefix, int side) const {
    const std::string& kind = values.choice(prefix + "type");
    std::vector<SideCondition> conditions(kFirstScalar + inflow_.size());
    if (kind == "outflow") return conditions;
    if (kind == "reflect") {
      for (SideCondition& condition : conditions) condition.kind = BoundaryKind::Reflect;
      conditions[static_cast<std::size_t>(kMomentumComponent + side / 2)].sign = -1;
      return conditions;
    }
    const std::vector<Expression> state = readGasState(values, prefix, gamma_);
    for (std::size_t c = 0; c < conditions.size(); ++c) {
      conditions[c].kind = BoundaryKind::Given;
      conditions[c].value = c < state.size() ? state[c] : ofMass(state[0], inflow_[c - state.size()]);
    }
    return conditions;
  }

 private:
  static Expression ofMass(const Expression& density, const Expression& concentration) {
    return Expression::ofParts("$0*$1", std::array{density, concentration});
  }

  double gamma_;
  std::span<const Expression> inflow_;
};

}  // namespace

void declareGasState(ParameterTable& table, const std::string& prefix,
                     const std::vector<std::string>& variables) {
  table.expression(prefix + "density", variables).doc("density").unit("mass/length^3").required();
  for (const char* axis : {"x", "y", "z"}) {
    table.expression(prefix + "velocity." + axis, variables)
        .doc("velocity along this axis")
        .unit("length/time")
        .defaultsTo(0);
  }
  table.expression(prefix + "pressure", variables).doc("pressure").unit("pressure").required();
}

std::vector<Expression> readGasState(const ParameterValues& values, const std::string& prefix, double gamma) {
  const std::array parts{values.expression(prefix + "density"), values.expression(prefix + "velocity.x"),
                         values.expression(prefix + "velocity.y"), values.expression(prefix + "velocity.z"),
                         values.expression(prefix + "pressure")};
  const std::string heat = Expression::constant(1.0 / (gamma - 1.0)).text();
  return {parts[0], Expression::ofParts("$0*$1", parts), Expression::ofParts("$0*$2", parts),
          Expression::ofParts("$0*$3", parts),
          Expression::ofParts("$4*" + heat + " + 0.5*$0*($1*$1 + ($2*$2 + $3*$3))", parts)};
}

void declareGasBoundaries(ParameterTable& table) {
  for (int side = 0; side < kSides; ++side) {
    table.choice(prefixOf(side) + "type", kKinds)
        .doc(std::string("what holds on the side ") + sideName(side) +
             " of the domain: free outflow, a wall without friction, or gas that enters")
        .defaultsTo("outflow");
    declareState(table, prefixOf(side));
  }
  ParameterTable& part = declareBoundaryParts(table);
  part.expression("within").doc("where on the side it holds: not 0, for example \"x < 0.5\"").required();
  part.choice("type", kKinds).doc("what holds there, as for a whole side").required();
  declareState(part, "");
}

std::vector<BoundaryConditions> readGasBoundaries(const ParameterValues& values, const Geometry& geometry,
                                                  double gamma, std::span<const Expression> inflow) {
  DeckDiagnostics findings;
  const ConditionReader reader(gamma, inflow);
  std::vector<BoundaryConditions> conditions(kFirstScalar + inflow.size());
  for (int side = 0; side < kSides; ++side) {
    const std::string type = prefixOf(side) + "type";
    const std::string reason = reasonWithoutBoundary(geometry, side);
    if (!reason.empty() && values.isGiven(type) && values.choice(type) != kKinds.front())
      findings.error(values.where(type), reason);
    if (geometry.periodic[static_cast<std::size_t>(side / 2)]) continue;
    const std::vector<SideCondition> read = reader.read(values, prefixOf(side), side);
    for (std::size_t c = 0; c < read.size(); ++c)
      conditions[c].sides[static_cast<std::size_t>(side)] = read[c];
  }
  for (const ParameterValues& part : boundaryParts(values)) {
    const std::optional<int> side = sideOfPart(part, geometry, findings);
    if (!side) continue;
    std::vector<SideCondition> read = reader.read(part, "", *side);
    for (std::size_t c = 0; c < read.size(); ++c) {
      read[c].within = part.expression("within");
      if (!addPart(conditions[c], *side, std::move(read[c]), part, findings)) break;
    }
  }
  findings.throwIfErrors();
  return conditions;
}

}  // namespace tessera
