#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "core/kernel.hpp"
#include "grid/label.hpp"
#include "grid/level.hpp"

namespace tessera {

/// One of the conditions of a side: of which component, and which in the order in which they are asked.
struct ConditionNumber {
  std::int32_t component = 0;
  std::int32_t number = 0;
  friend bool operator==(const ConditionNumber&, const ConditionNumber&) = default;
};

/// Components of a variable that have conditions of their own; conditions of a component on a side; one.
inline std::int32_t conditionComponents(const LabelInfo& info) { return info.type.planes(); }
inline std::int32_t conditionCount(const LabelInfo& info, int side, std::int32_t component) {
  return info.conditionsOf(component).count(side);
}
inline const SideCondition& conditionOf(const LabelInfo& info, int side, const ConditionNumber& which) {
  return info.conditionsOf(which.component).condition(side, which.number);
}

/// Calls `visit(ConditionNumber)` for all conditions of a side. Those of one component that hold on parts of
/// the side have an operation each, which leaves out where another one holds.
template <class Visit>
void forEachCondition(const LabelInfo& info, int side, Visit&& visit) {
  for (ConditionNumber which; which.component < conditionComponents(info); ++which.component) {
    const std::int32_t count = conditionCount(info, side, which.component);
    for (which.number = 0; which.number < count; ++which.number) visit(which);
  }
}

/// The value of a condition where another one holds. No expression gives it: a NaN of its own.
inline constexpr std::uint64_t kNotHere = 0x7FFC74E55E4A0001;
TESSERA_KERNEL inline bool isNotHere(double value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(value)) == kNotHere;
#else
  return std::bit_cast<std::uint64_t>(value) == kNotHere;
#endif
}

/// The value of one condition that a variable has on one side of the domain, at one time: at the foot of an
/// index on the face of that side, or, of `given`, at the index itself. Where other conditions of the side
/// hold it is kNotHere. One thread at a time; takes no memory. NumericalError: whether a part of the side
/// holds at an index is no number.
class ConditionValue {
 public:
  /// `info` and `level` outlive it.
  ConditionValue(const LabelInfo& info, const Level& level, int side, const ConditionNumber& which,
                 double time);

  double operator()(Index x);

 private:
  bool isHere(const Real3& foot);
  bool holds(std::size_t n, const Real3& foot);

  const LabelInfo& info_;
  const Level& level_;
  int side_;
  ConditionNumber which_;
  Centering centering_;
  int axis_;
  double face_;
  double time_;
  bool atIndex_;
  Expression::Evaluator value_;
  /// Of the conditions that are asked before it, and last of it where it is that of a part.
  std::array<std::optional<Expression::Evaluator>, kMostParts> within_;
  std::size_t before_ = 0;
  bool isPart_ = false;
};

/// Whether the values of a condition differ from index to index, and from time to time.
bool variesInSpace(const LabelInfo& info, int side, const ConditionNumber& which);
bool variesInTime(const LabelInfo& info, int side, const ConditionNumber& which);

/// The interior index from which a halo index beyond `side` gets its value. The value of a Dirichlet
/// condition holds on the face: the cell m layers out is 2 v - u(m layers in), which is second order.
Index mirroredIndex(Index x, BoundaryKind kind, Centering centering, const Level& level, int side);

/// The values for the indices of `region`, x fastest.
void conditionValues(const LabelInfo& info, const Level& level, int side, const ConditionNumber& which,
                     const Box& region, double time, std::span<double> values);

}  // namespace tessera
