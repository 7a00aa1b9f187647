#include "components/expression_fill.hpp"

#include "core/text/contracts.hpp"

namespace tessera {

ExpressionRows::ExpressionRows(const Expression& expression, const Level& level, Centering centering,
                               double time)
    : evaluator_(expression.evaluator()),
      level_(level),
      centering_(centering),
      time_(time),
      varies_(expression.dependsOnAxis(0)) {}

std::span<const double> ExpressionRows::row(Index first, std::int64_t count) {
  TESSERA_EXPECT(count <= kLongest, "ask for at most 64 values at once");
  const auto n = static_cast<std::size_t>(varies_ ? count : std::min<std::int64_t>(count, 1));
  for (std::size_t i = 0; i < n; ++i) {
    const Real3 at = level_.position(first + static_cast<std::int64_t>(i) * ex, centering_);
    x_[i] = at.x;
    y_[i] = at.y;
    z_[i] = at.z;
  }
  const auto columns = [n](const std::array<double, kLongest>& column) { return std::span(column).first(n); };
  const std::span<double> values = std::span(values_).first(n);
  evaluator_.evaluate(columns(x_), columns(y_), columns(z_), time_, values);
  const std::span<double> wanted = std::span(values_).first(static_cast<std::size_t>(count));
  if (!varies_) std::fill(wanted.begin(), wanted.end(), values_[0]);
  return wanted;
}

}  // namespace tessera
