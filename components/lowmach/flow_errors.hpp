#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/lowmach/flow_labels.hpp"
#include "core/deck/expression.hpp"

namespace tessera {

/// History columns of the difference between variables, of cells or of faces, and exact solutions of the
/// deck: `NAME.error_l2`, the root of its mean square over the domain, and `NAME.error_max`.
class FlowErrors {
 public:
  FlowErrors() = default;
  explicit FlowErrors(const Geometry& geometry);

  /// Adds one; a copy is kept.
  template <Centering C>
  void add(LabelTable& labels, const std::string& name, Label<double, C> variable, const Expression& exact) {
    all_.push_back({name, variable.id, C, exact, labels.reduction(name + ".error_l2"),
                    labels.reduction(name + ".error_max")});
  }
  void declareTasks(StepPlan& plan) const;
  std::vector<Diagnostic> diagnostics() const;

 private:
  struct One {
    std::string name;
    LabelId variable;
    Centering centering;
    Expression exact;
    ReductionLabel l2;
    ReductionLabel max;
  };
  template <Centering C>
  static void declare(StepPlan& plan, const One& one);

  double volume_ = 1.0;
  std::vector<One> all_;
};

}  // namespace tessera
