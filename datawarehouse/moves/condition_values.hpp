#pragma once

#include <span>

#include "grid/label.hpp"
#include "grid/level.hpp"

namespace tessera {

/// The value of the condition that a variable has on one side of the domain, at one time: at the foot of an
/// index on the face of that side. One thread at a time.
class ConditionValue {
 public:
  /// `info` and `level` outlive it.
  ConditionValue(const LabelInfo& info, const Level& level, int side, double time);

  double operator()(Index x);

 private:
  const Level& level_;
  Centering centering_;
  int axis_;
  double face_;
  double time_;
  Expression::Evaluator value_;
};

/// The interior index from which a halo index beyond `side` gets its value. The value of a Dirichlet
/// condition holds on the face: the cell m layers out is 2 v - u(m layers in), which is second order.
Index mirroredIndex(Index x, const LabelInfo& info, const Level& level, int side);

/// The values for the indices of `region`, x fastest.
void conditionValues(const LabelInfo& info, const Level& level, int side, const Box& region, double time,
                     std::span<double> values);

}  // namespace tessera
