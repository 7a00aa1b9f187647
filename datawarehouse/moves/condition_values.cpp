#include "datawarehouse/moves/condition_values.hpp"

namespace tessera {

ConditionValue::ConditionValue(const LabelInfo& info, const Level& level, int side, double time)
    : level_(level),
      centering_(info.centering),
      axis_(side / 2),
      face_(side % 2 == 1 ? level.geometry().upper[axis_] : level.geometry().lower[axis_]),
      time_(time),
      value_(info.boundary.sides[static_cast<std::size_t>(side)]->value.evaluator()) {}

double ConditionValue::operator()(Index x) {
  Real3 p = level_.position(x, centering_);
  p[axis_] = face_;
  return value_(p.x, p.y, p.z, time_);
}

Index mirroredIndex(Index x, const LabelInfo& info, const Level& level, int side) {
  const int axis = side / 2;
  const bool high = side % 2 == 1;
  const Box domain = level.domainOf(info.centering);
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  Index source = x;
  if (info.boundary.sides[static_cast<std::size_t>(side)]->kind == BoundaryKind::Outflow) {
    source[axis] = edge;
  } else {
    // Cells mirror about the face, half a cell beyond the edge cell; nodes and faces about the edge index
    // itself.
    const bool border = onBorders(info.centering, axis);
    source[axis] = border ? 2 * edge - x[axis] : 2 * edge + (high ? 1 : -1) - x[axis];
  }
  return source;
}

void conditionValues(const LabelInfo& info, const Level& level, int side, const Box& region, double time,
                     std::span<double> values) {
  ConditionValue value(info, level, side, time);
  std::size_t n = 0;
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) values[n++] = value({i, j, k});
    }
  }
}

}  // namespace tessera
