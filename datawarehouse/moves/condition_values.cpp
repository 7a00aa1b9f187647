#include "datawarehouse/moves/condition_values.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/error.hpp"

namespace tessera {
namespace {

/// Calls `visit(Expression)` for all that the values of a condition are made of.
template <class Visit>
void forEachExpression(const LabelInfo& info, int side, const ConditionNumber& which, Visit&& visit) {
  const SideCondition& condition = conditionOf(info, side, which);
  if (condition.kind != BoundaryKind::Outflow && condition.kind != BoundaryKind::Reflect)
    visit(condition.value);
  for (ConditionNumber n = which; n.number >= 0; --n.number) {
    const SideCondition& earlier = conditionOf(info, side, n);
    if (earlier.within) visit(*earlier.within);
  }
}

}  // namespace

ConditionValue::ConditionValue(const LabelInfo& info, const Level& level, int side,
                               const ConditionNumber& which, double time)
    : info_(info),
      level_(level),
      side_(side),
      which_(which),
      centering_(info.centering),
      axis_(side / 2),
      face_(side % 2 == 1 ? level.geometry().upper[axis_] : level.geometry().lower[axis_]),
      time_(time),
      atIndex_(conditionOf(info, side, which).kind == BoundaryKind::Given),
      value_(conditionOf(info, side, which).value.evaluator()),
      before_(static_cast<std::size_t>(which.number)),
      isPart_(conditionOf(info, side, which).within.has_value()) {
  for (std::size_t n = 0; n < before_ + (isPart_ ? 1 : 0); ++n) {
    const ConditionNumber one{which.component, static_cast<std::int32_t>(n)};
    within_[n].emplace(conditionOf(info, side, one).within->evaluator());
  }
}

double ConditionValue::operator()(Index x) {
  // Across a period the halo is that of the other end of the domain, at its place.
  for (int d = 0; d < kAxes; ++d) {
    const std::int64_t cells = level_.domain().extent()[d];
    if (d != axis_ && level_.geometry().wraps(d)) x[d] = (x[d] % cells + cells) % cells;
  }
  Real3 p = level_.position(x, centering_);
  Real3 foot = p;
  foot[axis_] = face_;
  if (!isHere(foot)) return std::bit_cast<double>(kNotHere);
  if (!atIndex_) p = foot;
  return value_(p.x, p.y, p.z, time_);
}

bool ConditionValue::isHere(const Real3& foot) {
  for (std::size_t n = 0; n < before_; ++n) {
    if (holds(n, foot)) return false;
  }
  return !isPart_ || holds(before_, foot);
}

bool ConditionValue::holds(std::size_t n, const Real3& foot) {
  const double value = (*within_[n])(foot.x, foot.y, foot.z, time_);
  if (!std::isnan(value)) return value != 0.0;
  const ConditionNumber part{which_.component, static_cast<std::int32_t>(n)};
  throw NumericalError(Message("whether the condition of a part of a side holds is not a number")
                           .line("variable  ", info_.name, ", side ", sideName(side_))
                           .line("within    \"", conditionOf(info_, side_, part).within->text(), "\"")
                           .line("where     (", foot.x, ", ", foot.y, ", ", foot.z, "), t = ", time_)
                           .line("fix       write what gives a number at all times of the run")
                           .text());
}

bool variesInSpace(const LabelInfo& info, int side, const ConditionNumber& which) {
  bool varies = false;
  forEachExpression(info, side, which,
                    [&](const Expression& e) { varies = varies || e.dependsOnPosition(); });
  return varies;
}

bool variesInTime(const LabelInfo& info, int side, const ConditionNumber& which) {
  bool varies = false;
  forEachExpression(info, side, which, [&](const Expression& e) { varies = varies || e.dependsOnTime(); });
  return varies;
}

Index mirroredIndex(Index x, BoundaryKind kind, Centering centering, const Level& level, int side) {
  const int axis = side / 2;
  const bool high = side % 2 == 1;
  const Box domain = level.domainOf(centering);
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  Index source = x;
  if (kind == BoundaryKind::Outflow) {
    source[axis] = edge;
  } else {
    // Cells mirror about the face, half a cell beyond the edge cell; nodes and faces about the edge index
    // itself.
    const bool border = onBorders(centering, axis);
    source[axis] = border ? 2 * edge - x[axis] : 2 * edge + (high ? 1 : -1) - x[axis];
  }
  return source;
}

void conditionValues(const LabelInfo& info, const Level& level, int side, const ConditionNumber& which,
                     const Box& region, double time, std::span<double> values) {
  ConditionValue value(info, level, side, which, time);
  std::size_t n = 0;
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) values[n++] = value({i, j, k});
    }
  }
}

}  // namespace tessera
