#include "core/deck/expression_use.hpp"

#include <algorithm>
#include <charconv>

namespace tessera {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool usesVariable(const Expression& expression, std::string_view variable) {
  if (expression.isConstant()) return false;
  std::string_view rest = expression.text();
  while (!rest.empty()) {
    std::size_t length = 1;
    if (isDigit(rest[0]) || rest[0] == '.') {
      double ignored = 0.0;  // the letters of a number, as in 1e-3, are no names
      const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), ignored);
      length = std::max<std::size_t>(static_cast<std::size_t>(end - rest.data()), 1);
    } else if (isLetter(rest[0])) {
      const auto end =
          std::find_if(rest.begin(), rest.end(), [](char c) { return !isLetter(c) && !isDigit(c); });
      length = static_cast<std::size_t>(end - rest.begin());
      if (rest.substr(0, length) == variable) return true;
    }
    rest.remove_prefix(length);
  }
  return false;
}

}  // namespace tessera
