#include "core/deck/detail/value_text.hpp"

#include <charconv>

#include "core/deck/deck.hpp"
#include "core/deck/detail/toml_text.hpp"

namespace tessera::detail {

namespace {

bool isPlainNumber(const std::string& text) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() && tomlNumber(value) == text;
}

struct ToToml {
  std::string operator()(std::monostate) const { return "unset"; }
  std::string operator()(const Expression& expression) const {
    return isPlainNumber(expression.text()) ? expression.text() : tomlString(expression.text());
  }
  std::string operator()(const std::vector<ParameterValues>& tables) const {
    return std::to_string(tables.size()) + " tables";
  }
  template <class T>
  std::string operator()(const T& value) const {
    return DeckNode::of(value).toml();
  }
};

}  // namespace

std::string valueText(const ParameterValues::Value& value) { return std::visit(ToToml(), value); }

}  // namespace tessera::detail
