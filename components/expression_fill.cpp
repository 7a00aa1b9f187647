#include "components/expression_fill.hpp"

namespace tessera {

ExpressionRows::ExpressionRows(const Expression& expression, const Level& level, Centering centering,
                               double time)
    : evaluator_(expression.evaluator()), level_(level), centering_(centering), time_(time) {}

std::span<const double> ExpressionRows::row(Index first, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  for (std::vector<double>* column : {&x_, &y_, &z_, &values_}) column->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Real3 at = level_.position(first + static_cast<std::int64_t>(i) * ex, centering_);
    x_[i] = at.x;
    y_[i] = at.y;
    z_[i] = at.z;
  }
  evaluator_.evaluate(x_, y_, z_, time_, values_);
  return values_;
}

}  // namespace tessera
