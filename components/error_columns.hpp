#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "core/deck/expression.hpp"

namespace tessera {

/// History columns of the difference between variables, of cells or of faces, and exact solutions of the
/// deck: NAME.error_l1 (mean of |e|), NAME.error_l2 (root of the mean of e^2) and NAME.error_max. On several
/// levels a cell that finer ones cover does not count; variables on faces are those of one level. Sums are
/// exact, so columns have the same bits for any patch layout, ranks and threads. A plain value; kept by the
/// component.
///
///   errors_ = ErrorColumns("Heat", setup.geometry);
///   errors_.add(setup.labels, "heat", temperature_, values.expression("exact"));
class ErrorColumns {
 public:
  ErrorColumns() = default;
  /// `prefix` begins the task names.
  ErrorColumns(std::string prefix, const Geometry& geometry);

  /// Adds columns that begin with `name`; a copy of the expression is kept.
  template <Centering C>
  void add(LabelTable& labels, const std::string& name, Label<double, C> variable, const Expression& exact) {
    all_.push_back({name, variable.id, C, labels.info(variable.id).unit, exact,
                    labels.reduction(name + ".error_l1"), labels.reduction(name + ".error_l2"),
                    labels.reduction(name + ".error_max")});
  }
  /// Tasks that read Old and contribute.
  void declareTasks(StepPlan& plan) const;
  std::vector<Diagnostic> diagnostics() const;

 private:
  struct One {
    std::string name;
    LabelId variable;
    Centering centering;
    std::string unit;
    Expression exact;
    ReductionLabel l1, l2, max;
  };
  template <Centering C>
  void declare(StepPlan& plan, const One& one) const;

  std::string prefix_;
  double volume_ = 1.0;
  std::vector<One> all_;
};

}  // namespace tessera
