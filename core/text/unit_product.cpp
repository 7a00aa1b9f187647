#include "core/text/unit_product.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace tessera {
namespace {

/// Words with their powers, in the order in which they come.
using Powers = std::vector<std::pair<std::string, int>>;

void multiply(Powers& product, const Powers& factor, int power) {
  for (const auto& [word, count] : factor) {
    const auto known = std::find_if(product.begin(), product.end(),
                                    [&, &word = word](const auto& one) { return one.first == word; });
    if (known == product.end()) {
      product.emplace_back(word, count * power);
    } else {
      known->second += count * power;
    }
  }
}

class UnitReader {
 public:
  explicit UnitReader(std::string_view text) : rest_(text) {}

  std::optional<Powers> all() {
    std::optional<Powers> found = product(0);
    return rest_.empty() ? found : std::nullopt;
  }

 private:
  static constexpr int kMostBrackets = 8;

  bool skip(char c) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Up to the end or a closing bracket.
  std::optional<Powers> product(int brackets) {
    Powers product;
    int sign = 1;
    bool wantsMore = false;
    do {
      const std::optional<Powers> one = factor(brackets);
      const std::optional<int> power = one ? this->power() : std::nullopt;
      if (!power) return std::nullopt;
      multiply(product, *one, sign * *power);
      wantsMore = skip('/');
      sign = wantsMore ? -1 : 1;
      wantsMore = wantsMore || skip('*');
      while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    } while (!rest_.empty() && rest_.front() != ')');
    return wantsMore ? std::nullopt : std::optional(product);
  }

  /// A word, 1 or a product in brackets.
  std::optional<Powers> factor(int brackets) {
    if (skip('1')) return Powers{};
    if (skip('(')) {
      std::optional<Powers> inner = brackets < kMostBrackets ? product(brackets + 1) : std::nullopt;
      return skip(')') ? inner : std::nullopt;
    }
    std::size_t end = 0;
    while (end < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[end])) != 0) ++end;
    if (end == 0) return std::nullopt;
    Powers word{{std::string(rest_.substr(0, end)), 1}};
    rest_.remove_prefix(end);
    return word;
  }

  std::optional<int> power() {
    if (rest_.empty() || rest_.front() != '^') return 1;
    int power = 0;
    const char* const begin = rest_.data() + 1;
    const auto [end, error] = std::from_chars(begin, rest_.data() + rest_.size(), power);
    constexpr int kMost = 99;
    if (error != std::errc() || std::abs(power) > kMost) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return power;
  }

  std::string_view rest_;
};

/// The words whose powers have this sign: "kg m^2".
std::string joined(const Powers& powers, int sign, int& count) {
  std::string text;
  for (const auto& [word, power] : powers) {
    if (power * sign <= 0) continue;
    text += (count++ > 0 ? " " : "") + word + (power * sign > 1 ? "^" + std::to_string(power * sign) : "");
  }
  return text;
}

}  // namespace

std::string unitProduct(std::string_view text) {
  const std::optional<Powers> powers = UnitReader(text).all();
  if (!powers) return std::string(text);
  int above = 0;
  int below = 0;
  const std::string upper = joined(*powers, 1, above);
  const std::string lower = joined(*powers, -1, below);
  const std::string head = above > 0 ? upper : "1";
  if (below == 0) return head;
  return head + "/" + (below > 1 ? "(" + lower + ")" : lower);
}

}  // namespace tessera
