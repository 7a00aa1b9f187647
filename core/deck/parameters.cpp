#include "core/deck/parameters.hpp"

#include <algorithm>
#include <utility>

#include "core/deck/detail/value_reader.hpp"
#include "core/text/error.hpp"

namespace tessera {

namespace {

bool isKeyText(std::string_view name) {
  const auto isGood = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), isGood);
}

/// "boundary" and "boundary.x_low": one would be a value and a table at once.
bool isInside(std::string_view inner, std::string_view outer) {
  return inner.size() > outer.size() && inner.substr(0, outer.size()) == outer && inner[outer.size()] == '.';
}

}  // namespace

Parameter::Parameter(std::string name, ParameterType type) : name_(std::move(name)), type_(type) {}

Parameter& Parameter::unit(std::string text) {
  unit_ = std::move(text);
  return *this;
}

Parameter& Parameter::doc(std::string text) {
  doc_ = std::move(text);
  return *this;
}

Parameter& Parameter::required() {
  presence_ = Presence::Required;
  return *this;
}

Parameter& Parameter::optional() {
  presence_ = Presence::Optional;
  return *this;
}

Parameter& Parameter::setDefault(DeckNode value) {
  default_ = std::move(value);
  presence_ = Presence::Defaulted;
  expectConsistent();
  return *this;
}

Parameter& Parameter::atLeast(double value) {
  lower_ = Bound{value, false};
  expectConsistent();
  return *this;
}

Parameter& Parameter::above(double value) {
  lower_ = Bound{value, true};
  expectConsistent();
  return *this;
}

Parameter& Parameter::atMost(double value) {
  upper_ = Bound{value, false};
  expectConsistent();
  return *this;
}

Parameter& Parameter::below(double value) {
  upper_ = Bound{value, true};
  expectConsistent();
  return *this;
}

Parameter& Parameter::range(double lowest, double highest) { return atLeast(lowest).atMost(highest); }

Parameter& Parameter::mayChangeOnRestart() {
  changesOnRestart_ = true;
  return *this;
}

void Parameter::expectConsistent() const {
  if (!default_) return;
  DeckDiagnostics findings;
  detail::readValue(*this, *default_, name_, {}, findings);
  if (findings.hasErrors()) {
    throw InternalError(Message("the declaration of parameter '" + name_ + "' contradicts itself")
                            .line(findings.text())
                            .line("fix  give a default that the declaration allows")
                            .text());
  }
}

ParameterTable::ParameterTable(std::string name, std::string doc)
    : name_(std::move(name)), doc_(std::move(doc)) {
  if (!isKeyText(name_))
    throw InternalError("'" + name_ + "' is not a valid name for a table; use a-z, 0-9 and _");
}

Parameter& ParameterTable::add(std::string name, ParameterType type) {
  if (!isKeyText(name))
    throw InternalError("'" + name + "' is not a valid name for a parameter; use a-z, 0-9, _ and dots");
  for (const Parameter& other : parameters_) {
    if (other.name() == name || isInside(name, other.name()) || isInside(other.name(), name)) {
      throw InternalError("[" + name_ + "] declares '" + name + "', but also '" + other.name() +
                          "'; rename one");
    }
  }
  parameters_.push_back(Parameter(std::move(name), type));
  return parameters_.back();
}

Parameter& ParameterTable::real(std::string name) { return add(std::move(name), ParameterType::Real); }
Parameter& ParameterTable::integer(std::string name) { return add(std::move(name), ParameterType::Integer); }
Parameter& ParameterTable::boolean(std::string name) { return add(std::move(name), ParameterType::Boolean); }
Parameter& ParameterTable::text(std::string name) { return add(std::move(name), ParameterType::Text); }
Parameter& ParameterTable::textList(std::string name) {
  return add(std::move(name), ParameterType::TextList);
}

Parameter& ParameterTable::choice(std::string name, std::vector<std::string> choices) {
  Parameter& parameter = add(std::move(name), ParameterType::Choice);
  parameter.choices_ = std::move(choices);
  return parameter;
}

Parameter& ParameterTable::expression(std::string name, std::vector<std::string> variables) {
  Parameter& parameter = add(std::move(name), ParameterType::Expression);
  parameter.variables_ = std::move(variables);
  return parameter;
}

Parameter& ParameterTable::realVector(std::string name, std::size_t length) {
  Parameter& parameter = add(std::move(name), ParameterType::RealVector);
  parameter.length_ = length;
  return parameter;
}

Parameter& ParameterTable::integerVector(std::string name, std::size_t length) {
  Parameter& parameter = add(std::move(name), ParameterType::IntegerVector);
  parameter.length_ = length;
  return parameter;
}

Parameter& ParameterTable::booleanVector(std::string name, std::size_t length) {
  Parameter& parameter = add(std::move(name), ParameterType::BooleanVector);
  parameter.length_ = length;
  return parameter;
}

ParameterTable& ParameterTable::arrayOf(std::string name, std::string doc) {
  if (name.find('.') != std::string::npos) {
    throw InternalError("[[" + name_ + "." + name +
                        "]]: a list of tables stands directly in its table; drop the dot");
  }
  auto nested = std::make_shared<ParameterTable>(name_ + "." + name, doc);
  Parameter& parameter = add(std::move(name), ParameterType::Tables);
  parameter.doc_ = std::move(doc);
  parameter.presence_ = Parameter::Presence::Optional;
  parameter.nested_ = nested;
  return *nested;
}

void ParameterTable::check(Rule rule) { rules_.push_back(std::move(rule)); }

const Parameter* ParameterTable::find(std::string_view name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const Parameter& parameter) { return parameter.name() == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

}  // namespace tessera
