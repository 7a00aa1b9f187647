#include "datawarehouse/archive/compare.hpp"

#include <bit>
#include <cstring>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "datawarehouse/archive/detail/compare_layers.hpp"
#include "datawarehouse/archive/detail/manifest.hpp"

namespace tessera {
namespace {

using namespace detail;

// A variable of one side: what it is and its layers by level.
struct Variable {
  ElementType type;
  Centering centering = Centering::Cell;
  std::map<std::int32_t, Layer> layers;
};
using Variables = std::map<std::string, Variable>;

std::vector<std::byte> asRawBytes(const std::vector<double>& values) {
  const auto view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

Variables variablesOf(const FieldReader& reader) {
  Variables all;
  const FieldOutput& header = reader.header();
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    const OutputField& field = header.fields[f];
    Variable variable{{Scalar::Float64, field.components}, field.centering, {}};
    for (std::size_t l = 0; l < header.levels.size(); ++l) {
      Layer layer{variable.type, {}};
      for (std::size_t p = 0; p < header.levels[l].patches.size(); ++p) {
        layer.pieces.push_back({valueBox(header.levels[l].patches[p], field.centering), [&reader, f, l, p] {
                                  return asRawBytes(reader.values(f, l, static_cast<std::int64_t>(p)));
                                }});
      }
      variable.layers.emplace(static_cast<std::int32_t>(l), std::move(layer));
    }
    all.emplace(field.name, std::move(variable));
  }
  return all;
}

/// The numbers of an index side by side, as fields have them.
std::vector<std::byte> broughtTogether(const std::vector<std::byte>& apart, const ElementType& type) {
  if (type.planes() == 1) return apart;
  const auto each = static_cast<std::size_t>(type.scalarBytes());
  const auto planes = static_cast<std::size_t>(type.planes());
  const std::size_t indices = apart.size() / (each * planes);
  std::vector<std::byte> together(apart.size());
  for (std::size_t c = 0; c < planes; ++c) {
    for (std::size_t n = 0; n < indices; ++n)
      std::memcpy(together.data() + (n * planes + c) * each, apart.data() + (c * indices + n) * each, each);
  }
  return together;
}

Variables variablesOf(const CheckpointReader& reader) {
  Variables all;
  for (const BlockDescription& block : reader.blocks()) {
    Variable& variable = all[block.label];
    variable.type = block.type;
    variable.centering = block.centering;
    Layer& layer = variable.layers[block.level];
    layer.type = block.type;
    layer.pieces.push_back({block.box, [&reader, &block] {
                              std::vector<std::byte> bytes(static_cast<std::size_t>(block.bytes()));
                              reader.readBlock(block.label, block.level, block.patch, bytes);
                              return broughtTogether(bytes, block.type);
                            }});
  }
  return all;
}

std::string describe(const Variable& v) { return asText(v.type) + " on " + asText(v.centering) + "s"; }

void compareVariable(const std::string& name, const Variable& a, const Variable& b,
                     const CompareTolerance& tolerance, Comparison& result) {
  if (a.type != b.type || a.centering != b.centering) {
    result.problems.push_back(name + " is " + describe(a) + " in the first and " + describe(b) +
                              " in the second");
    return;
  }
  FieldComparison field;
  field.field = name;
  std::map<std::int32_t, Layer> levels = a.layers;
  levels.insert(b.layers.begin(), b.layers.end());
  const Layer none{a.type, {}};
  for (const auto& [level, layer] : levels) {
    const auto inA = a.layers.find(level);
    const auto inB = b.layers.find(level);
    compareLayers(name, level, inA == a.layers.end() ? none : inA->second,
                  inB == b.layers.end() ? none : inB->second, tolerance, field, result.problems);
  }
  result.fields.push_back(std::move(field));
}

void compareVariables(const Variables& a, const Variables& b, const CompareTolerance& tolerance,
                      Comparison& result) {
  for (const auto* side : {&a, &b}) {
    for (const auto& [name, variable] : *side) result.names.insert(name);
  }
  for (const auto& [name, variable] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      result.problems.push_back(name + " is in the first only");
    } else {
      compareVariable(name, variable, other->second, tolerance, result);
    }
  }
  for (const auto& [name, variable] : b) {
    if (a.find(name) == a.end()) result.problems.push_back(name + " is in the second only");
  }
}

bool sameNumber(double a, double b, const CompareTolerance& tolerance) {
  if (tolerance.exact) return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  return withinTolerance(a, b, tolerance);
}

bool sameValue(const StateValue& a, const StateValue& b, const CompareTolerance& tolerance) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return sameNumber(*x, std::get<double>(b), tolerance);
  if (const auto* x = std::get_if<std::vector<double>>(&a)) {
    const auto& y = std::get<std::vector<double>>(b);
    if (x->size() != y.size()) return false;
    for (std::size_t n = 0; n < y.size(); ++n) {
      if (!sameNumber((*x)[n], y[n], tolerance)) return false;
    }
    return true;
  }
  return a == b;
}

std::string asText(const StateValue& value) {
  std::ostringstream out;
  out.precision(17);
  if (const auto* text = std::get_if<std::string>(&value)) out << "\"" << *text << "\"";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) out << *whole;
  if (const auto* real = std::get_if<double>(&value)) out << *real << " (" << exactText(*real) << ")";
  if (const auto* list = std::get_if<std::vector<double>>(&value)) out << list->size() << " numbers";
  return out.str();
}

void compareStates(const CheckpointState& a, const CheckpointState& b, const CompareTolerance& tolerance,
                   Comparison& result) {
  for (const auto& [key, value] : a.values()) {
    const auto other = b.values().find(key);
    if (other == b.values().end()) {
      result.problems.push_back("the state '" + key + "' is in the first only");
    } else if (!sameValue(value, other->second, tolerance)) {
      result.problems.push_back("the state '" + key + "' is " + asText(value) + " in the first and " +
                                asText(other->second) + " in the second");
    }
  }
  for (const auto& [key, value] : b.values()) {
    if (!a.has(key)) result.problems.push_back("the state '" + key + "' is in the second only");
  }
}

void compareSteps(std::int64_t a, std::int64_t b, Comparison& result) {
  if (a == b) return;
  result.problems.push_back("the step is " + std::to_string(a) + " in the first and " + std::to_string(b) +
                            " in the second");
}

std::string asText(const Real3& x) {
  std::ostringstream out;
  out.precision(17);
  out << "(" << x.x << ", " << x.y << ", " << x.z << ")";
  return out.str();
}

void comparePoints(const std::string& what, const Real3& a, const Real3& b, const CompareTolerance& tolerance,
                   Comparison& result) {
  for (int axis = 0; axis < kAxes; ++axis) {
    if (sameNumber(a[axis], b[axis], tolerance)) continue;
    result.problems.push_back(what + " is " + asText(a) + " in the first and " + asText(b) +
                              " in the second");
    return;
  }
}

/// Where the values lie: equal numbers at other places are no equal fields.
void compareGeometry(const FieldOutput& a, const FieldOutput& b, const CompareTolerance& tolerance,
                     Comparison& result) {
  comparePoints("the lower corner", a.origin, b.origin, tolerance, result);
  if (a.periodic != b.periodic) result.problems.push_back("the domain is periodic on other axes");
  if (a.levels.size() != b.levels.size()) {
    result.problems.push_back("there are " + std::to_string(a.levels.size()) + " levels in the first and " +
                              std::to_string(b.levels.size()) + " in the second");
    return;
  }
  for (std::size_t n = 0; n < a.levels.size(); ++n) {
    const std::string level = " of level " + std::to_string(n);
    comparePoints("the size of the cells" + level, a.levels[n].spacing, b.levels[n].spacing, tolerance,
                  result);
    if (a.levels[n].domain != b.levels[n].domain) {
      result.problems.push_back("the cells" + level + " are " + asText(a.levels[n].domain) +
                                " in the first and " + asText(b.levels[n].domain) + " in the second");
    }
  }
}

/// The value of a key of the deck's [grid], without the remark on where it came from.
std::string gridValue(const std::string& deck, const std::string& key) {
  std::istringstream lines(deck);
  bool inGrid = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind('[', 0) == 0) inGrid = line.rfind("[grid]", 0) == 0;
    if (inGrid && line.rfind(key + " = ", 0) == 0) return line.substr(0, line.find("  #"));
  }
  return {};
}

void compareDomains(const std::string& a, const std::string& b, Comparison& result) {
  for (const char* key : {"lower", "upper", "periodic"}) {
    const std::string x = gridValue(a, key);
    const std::string y = gridValue(b, key);
    if (x == y) continue;
    result.problems.push_back("the domain has " + x + " in the first and " + y + " in the second");
  }
}

Comparison concluded(Comparison result) {
  result.equal = result.problems.empty();
  for (const FieldComparison& field : result.fields) result.equal = result.equal && field.differing == 0;
  return result;
}

}  // namespace

Comparison compareFields(const FieldReader& a, const FieldReader& b, const CompareTolerance& tolerance) {
  Comparison result;
  compareSteps(a.header().step, b.header().step, result);
  if (!sameNumber(a.header().time, b.header().time, tolerance)) {
    result.problems.push_back("the time is " + asText(StateValue(a.header().time)) + " in the first and " +
                              asText(StateValue(b.header().time)) + " in the second");
  }
  compareGeometry(a.header(), b.header(), tolerance, result);
  compareVariables(variablesOf(a), variablesOf(b), tolerance, result);
  return concluded(std::move(result));
}

Comparison compareCheckpoints(const CheckpointReader& a, const CheckpointReader& b,
                              const CompareTolerance& tolerance) {
  Comparison result;
  compareSteps(a.step(), b.step(), result);
  compareStates(a.state(), b.state(), tolerance, result);
  compareDomains(a.identity().deckText, b.identity().deckText, result);
  compareVariables(variablesOf(a), variablesOf(b), tolerance, result);
  return concluded(std::move(result));
}

}  // namespace tessera
