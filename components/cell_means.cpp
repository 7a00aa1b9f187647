#include "components/cell_means.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

constexpr int kMostPoints = 8;
using Rule = std::vector<std::array<double, 2>>;

/// Zeros of the Legendre polynomial of that degree by Newton's method, from the largest down (W. H. Press et
/// al., Numerical Recipes, 3rd ed., 4.6.1).
Rule makeRule(int degree) {
  Rule rule;
  for (int n = 0; n < (degree + 1) / 2; ++n) {
    double z = std::cos(std::numbers::pi * (n + 0.75) / (degree + 0.5));
    double slope = 1.0;
    for (int iteration = 0; iteration < 10; ++iteration) {
      double p = 1.0;
      double before = 0.0;
      for (int k = 0; k < degree; ++k) {
        const double next = ((2.0 * k + 1.0) * z * p - k * before) / (k + 1.0);
        before = p;
        p = next;
      }
      slope = degree * (z * p - before) / (z * z - 1.0);
      z -= p / slope;
    }
    if (2 * n + 1 == degree) z = 0.0;
    const double weight = 1.0 / ((1.0 - z * z) * slope * slope);
    rule.push_back({-0.5 * z, weight});
    if (z != 0.0) rule.push_back({0.5 * z, weight});
  }
  // Exactly halves for two points, so that the mean of a constant is the constant.
  double sum = 0.0;
  for (const auto& point : rule) sum += point[1];
  for (auto& point : rule) point[1] /= sum;
  return rule;
}

}  // namespace

std::span<const std::array<double, 2>> gaussRule(int points) {
  TESSERA_EXPECT(points >= 1 && points <= kMostPoints, "ask for one to eight points");
  static const std::array<Rule, kMostPoints> rules = [] {
    std::array<Rule, kMostPoints> all;
    for (int n = 0; n < kMostPoints; ++n) all[static_cast<std::size_t>(n)] = makeRule(n + 1);
    return all;
  }();
  return rules[static_cast<std::size_t>(points - 1)];
}

CellMean::CellMean(const Expression& expression, const Level& level, double time, int points)
    : evaluator_(expression.evaluator()), level_(level), time_(time) {
  for (int axis = 0; axis < kAxes; ++axis) {
    const bool isResolved = level.domain().hi[axis] - level.domain().lo[axis] > 1;
    rules_[static_cast<std::size_t>(axis)] = gaussRule(isResolved ? points : 1);
  }
}

double CellMean::operator()(Index cell) {
  const Real3 middle = level_.position(cell, Centering::Cell);
  const Real3 h = level_.spacing();
  double sum = 0.0;
  for (const auto& [z, ofZ] : rules_[2]) {
    double plane = 0.0;
    for (const auto& [y, ofY] : rules_[1]) {
      double row = 0.0;
      for (const auto& [x, ofX] : rules_[0])
        row += ofX * evaluator_(middle.x + x * h.x, middle.y + y * h.y, middle.z + z * h.z, time_);
      plane += ofY * row;
    }
    sum += ofZ * plane;
  }
  return sum;
}

}  // namespace tessera
