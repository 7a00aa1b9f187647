#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/deck/expression.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/level.hpp"

namespace tessera {

/// Evaluates an expression of the deck along rows of one level; one object a running task.
///
/// A value depends on its index, the level and the time only, never on the patch or on where a row begins, so
/// filled fields have the same bits for any patch layout. Host only.
class ExpressionRows {
 public:
  ExpressionRows(const Expression& expression, const Level& level, Centering centering, double time);

  /// As many values as `row` gives at once: what fits well on the stack, so that no task needs memory for it.
  static constexpr std::int64_t kLongest = 64;

  /// The values at `first`, `first + ex`, ..., `kLongest` at most; valid until the next call.
  std::span<const double> row(Index first, std::int64_t count);

 private:
  Expression::Evaluator evaluator_;
  const Level& level_;
  Centering centering_;
  double time_;
  bool varies_;  ///< along a row
  std::array<double, kLongest> x_, y_, z_, values_;
};

/// Calls `visit(index, value)` for every index of `box`. Along an axis on which the expression does not
/// depend each value is computed once; the first index with a value comes before all others that have it.
template <class Visit>
void forEachValue(const Expression& expression, const Level& level, const Box& box, Centering centering,
                  double time, Visit&& visit) {
  if (box.empty()) return;
  ExpressionRows rows(expression, level, centering, time);
  // How many indices along an axis have one value.
  const std::int64_t alikeY = expression.dependsOnAxis(1) ? 1 : box.hi.j - box.lo.j;
  const std::int64_t alikeZ = expression.dependsOnAxis(2) ? 1 : box.hi.k - box.lo.k;
  for (std::int64_t k = box.lo.k; k < box.hi.k; k += alikeZ) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; j += alikeY) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; i += ExpressionRows::kLongest) {
        const std::span<const double> values =
            rows.row({i, j, k}, std::min(box.hi.i - i, ExpressionRows::kLongest));
        for (Index x{i, j, k}; x.k < k + alikeZ; ++x.k) {
          for (x.j = j; x.j < j + alikeY; ++x.j) {
            x.i = i;
            for (const double value : values) {
              visit(x, value);
              ++x.i;
            }
          }
        }
      }
    }
  }
}

/// As `fill`; `check(index, value)` sees each value before it is written, and throws where that may not be.
template <class Task, class T, Centering C, class Check>
void fillChecked(const Task& task, Label<T, C> label, const Expression& expression, double time,
                 Check&& check) {
  const auto field = task.write(label);
  forEachValue(expression, task.level(), task.interior(label), C, time, [&](Index x, double value) {
    check(x, value);
    field(x) = static_cast<T>(value);
  });
}

/// Writes `expression` at `time` into every index that the task's patch owns of `label`: at cell centres,
/// nodes or face centres, as the label is centred. The task has declared `writes(label)` and `runs<Cpu>`.
///
///   plan.task("Heat::initial").writes(T).runs<Cpu>([T, f](const auto& task) { fill(task, T, f, task.time());
///   });
template <class Task, class T, Centering C>
void fill(const Task& task, Label<T, C> label, const Expression& expression, double time) {
  fillChecked(task, label, expression, time, [](Index, double) {});
}

}  // namespace tessera
