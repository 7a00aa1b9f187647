#include "core/deck/detail/value_reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/deck/detail/toml_text.hpp"
#include "core/text/message_text.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera::detail {

namespace {

using Value = ParameterValues::Value;

std::string choicesText(const Parameter& parameter) {
  std::vector<std::string> quotedChoices;
  for (const std::string& choice : parameter.choices()) quotedChoices.push_back(quotedText(choice));
  return listText(quotedChoices);
}

class Reader {
 public:
  Reader(const Parameter& parameter, const std::string& name, const Constants& constants,
         DeckDiagnostics& findings)
      : parameter_(parameter), name_(name), constants_(constants), findings_(findings) {}

  Value read(const DeckNode& node) {
    switch (parameter_.type()) {
      case ParameterType::Real:
        return wrap(real(node, name_));
      case ParameterType::Integer:
        return wrap(integer(node, name_));
      case ParameterType::Boolean:
        return wrap(boolean(node, name_));
      case ParameterType::Text:
        return wrap(text(node, name_));
      case ParameterType::Choice:
        return choice(node);
      case ParameterType::Expression:
        return expression(node);
      case ParameterType::RealVector:
        return list<double>(node, &Reader::real);
      case ParameterType::IntegerVector:
        return list<std::int64_t>(node, &Reader::integer);
      case ParameterType::BooleanVector:
        return list<bool>(node, &Reader::boolean);
      case ParameterType::TextList:
        return list<std::string>(node, &Reader::text);
      case ParameterType::Tables:
        break;
    }
    return {};
  }

 private:
  template <class T>
  static Value wrap(std::optional<T> value) {
    return value ? Value(std::move(*value)) : Value();
  }

  void wrongType(const DeckNode& node, const std::string& name, std::string_view expected) {
    findings_.error(node.where, quotedKey(name) + " must be " + std::string(expected) +
                                    unitSuffix(parameter_) + ", got " + foundText(node));
  }

  bool isInRange(double value, const DeckNode& node, const std::string& name) {
    const auto& low = parameter_.lower();
    const auto& high = parameter_.upper();
    const bool isAbove = !low || (low->open ? value > low->value : value >= low->value);
    const bool isBelow = !high || (high->open ? value < high->value : value <= high->value);
    if (isAbove && isBelow) return true;
    const std::string shown = node.kind == DeckKind::Text ? plainNumber(value) : foundText(node);
    findings_.error(node.where, quotedKey(name) + " is " + shown + "; it must be " + rangeText(parameter_) +
                                    unitSuffix(parameter_));
    return false;
  }

  std::optional<double> real(const DeckNode& node, const std::string& name) {
    if (node.kind != DeckKind::Real && node.kind != DeckKind::Integer) {
      wrongType(node, name, "a number");
      return std::nullopt;
    }
    const double value = node.kind == DeckKind::Real ? node.real() : static_cast<double>(node.integer());
    if (!std::isfinite(value)) {
      findings_.error(node.where, quotedKey(name) + " is " + plainNumber(value) +
                                      "; it must be a finite number" + unitSuffix(parameter_));
      return std::nullopt;
    }
    return isInRange(value, node, name) ? std::optional(value) : std::nullopt;
  }

  std::optional<std::int64_t> integer(const DeckNode& node, const std::string& name) {
    if (node.kind != DeckKind::Integer) {
      wrongType(node, name, "an integer");
      return std::nullopt;
    }
    const bool isFine = isInRange(static_cast<double>(node.integer()), node, name);
    return isFine ? std::optional(node.integer()) : std::nullopt;
  }

  std::optional<bool> boolean(const DeckNode& node, const std::string& name) {
    if (node.kind == DeckKind::Boolean) return node.boolean();
    wrongType(node, name, "true or false");
    return std::nullopt;
  }

  std::optional<std::string> text(const DeckNode& node, const std::string& name) {
    if (node.kind == DeckKind::Text) return node.text();
    wrongType(node, name, "a text in quotes");
    return std::nullopt;
  }

  Value choice(const DeckNode& node) {
    const auto& choices = parameter_.choices();
    if (node.kind != DeckKind::Text) {
      wrongType(node, name_, expectedText(parameter_));
      return {};
    }
    if (std::find(choices.begin(), choices.end(), node.text()) != choices.end()) return node.text();
    const std::string nearest = nearestName(node.text(), choices);
    findings_.error(node.where, quotedKey(name_) + " is " + quotedText(node.text()) + "; it must be " +
                                    expectedText(parameter_) +
                                    (nearest.empty() ? "" : "; did you mean " + quotedText(nearest) + "?"));
    return {};
  }

  Value expression(const DeckNode& node) {
    if (node.kind == DeckKind::Real || node.kind == DeckKind::Integer) {
      const std::optional<double> value = real(node, name_);
      return value ? Value(Expression::constant(*value)) : Value();
    }
    if (node.kind != DeckKind::Text) {
      wrongType(node, name_, "a number or an expression in quotes");
      return {};
    }
    try {
      Expression parsed = Expression::parse(node.text(), constants_, parameter_.variables());
      return isGoodConstant(parsed, node) ? Value(std::move(parsed)) : Value();
    } catch (const ExpressionError& fault) {
      findings_.error(node.where, quotedKey(name_) + ": " + fault.message());
      return {};
    }
  }

  // Only an expression without variables has one value that can be held against the range now.
  bool isGoodConstant(const Expression& parsed, const DeckNode& node) {
    if (!parsed.isConstant()) return true;
    const double value = parsed(0, 0, 0, 0);
    if (std::isfinite(value)) return isInRange(value, node, name_);
    findings_.error(node.where, quotedKey(name_) + ": " + quotedText(parsed.text()) + " gives " +
                                    plainNumber(value) + "; it must give a finite number");
    return false;
  }

  template <class T>
  Value list(const DeckNode& node, std::optional<T> (Reader::*readOne)(const DeckNode&, const std::string&)) {
    if (node.kind != DeckKind::Array) {
      wrongType(node, name_, expectedText(parameter_));
      return {};
    }
    const std::size_t length = parameter_.length();
    const std::size_t count = node.children.size();
    if (length > 0 && count != length) {
      findings_.error(node.where, quotedKey(name_) + " has " + std::to_string(count) +
                                      (count == 1 ? " value" : " values") + "; it must be " +
                                      expectedText(parameter_) + unitSuffix(parameter_));
      return {};
    }
    std::vector<T> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<T> one = (this->*readOne)(node.children[i], name_ + "[" + std::to_string(i) + "]");
      if (one) values.push_back(std::move(*one));
    }
    return values.size() == count ? Value(std::move(values)) : Value();
  }

  const Parameter& parameter_;
  const std::string& name_;
  const Constants& constants_;
  DeckDiagnostics& findings_;
};

}  // namespace

ParameterValues::Value readValue(const Parameter& parameter, const DeckNode& node,
                                 const std::string& fullName, const Constants& constants,
                                 DeckDiagnostics& findings) {
  return Reader(parameter, fullName, constants, findings).read(node);
}

std::string foundText(const DeckNode& node) {
  if (node.kind == DeckKind::Table || node.kind == DeckKind::Array) return std::string(kindText(node.kind));
  if (node.kind == DeckKind::Text) return "the text " + quotedText(node.text());
  if (node.kind == DeckKind::Real) return plainNumber(node.real());
  return node.toml();
}

std::string expectedText(const Parameter& parameter) {
  const std::string length = std::to_string(parameter.length());
  switch (parameter.type()) {
    case ParameterType::Real:
      return "a number";
    case ParameterType::Integer:
      return "an integer";
    case ParameterType::Boolean:
      return "true or false";
    case ParameterType::Text:
      return "a text in quotes";
    case ParameterType::Choice:
      return "one of " + choicesText(parameter);
    case ParameterType::Expression:
      return parameter.variables().empty()
                 ? "a number or a constant expression in quotes"
                 : "a number or an expression of " + listText(parameter.variables());
    case ParameterType::RealVector:
      return "a list of " + length + " numbers";
    case ParameterType::IntegerVector:
      return "a list of " + length + " integers";
    case ParameterType::BooleanVector:
      return "a list of " + length + " true/false";
    case ParameterType::TextList:
      return "a list of texts in quotes";
    case ParameterType::Tables:
      return "a list of tables";
  }
  return "";
}

std::string rangeText(const Parameter& parameter) {
  const auto& low = parameter.lower();
  const auto& high = parameter.upper();
  if (low && high) {
    return std::string("in ") + (low->open ? "(" : "[") + plainNumber(low->value) + ", " +
           plainNumber(high->value) + (high->open ? ")" : "]");
  }
  if (low) return (low->open ? "greater than " : "at least ") + plainNumber(low->value);
  if (high) return (high->open ? "less than " : "at most ") + plainNumber(high->value);
  return "";
}

std::string unitSuffix(const Parameter& parameter) {
  return parameter.unitText().empty() ? "" : " (" + parameter.unitText() + ")";
}

}  // namespace tessera::detail
