#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/error_columns.hpp"

namespace tessera {

/// History columns of one cell variable of a component: its integral over the domain, its least and largest
/// value and, where the deck gives the exact solution, the norms of the error. On several levels a cell that
/// finer ones cover does not count: these are integrals and norms of the composite grid. Sums are exact, so
/// columns have the same bits for any patch layout, ranks and threads. A plain value; kept by the component.
///
///   void Heat::configure(...) { norms_ = ErrorNorms("Heat", values, setup, temperature_); }
///   void Heat::declareDiagnostics(StepPlan& plan) const { norms_.declareTasks(plan); }
class ErrorNorms {
 public:
  /// Declares the optional key `exact`, an expression of x, y, z and t.
  static void declareParameters(ParameterTable& table);

  ErrorNorms() = default;
  /// `prefix` begins the task names ("Heat"); the columns begin with the name of the component's table.
  ErrorNorms(std::string prefix, const ParameterValues& values, ComponentSetup& setup,
             Label<double, Cell> variable);

  /// Tasks that read Old and contribute.
  void declareTasks(StepPlan& plan) const;

  /// The columns: NAME.total (integral), NAME.min, NAME.max and, with `exact`, NAME.error_l1 (mean of |e|),
  /// NAME.error_l2 (root of the mean of e^2) and NAME.error_max.
  std::vector<Diagnostic> diagnostics() const;

 private:
  struct Names {
    ReductionLabel total, least, largest;
  };

  std::string prefix_;
  std::string table_;
  Label<double, Cell> variable_;
  std::string unit_;
  Names names_;
  ErrorColumns errors_;
};

}  // namespace tessera
