#include "components/error_norms.hpp"

#include <algorithm>
#include <cmath>

#include "components/error_norms_kernels.hpp"
#include "components/expression_fill.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

/// A norm would take it for no error.
[[noreturn]] void notANumber(Index x, const Level& level, double time) {
  throw NumericalError(Message("the exact solution is not a number")
                           .line("cell  ", asText(x), " of level ", level.number(), ", t = ", time)
                           .line("fix   give an expression that has a value everywhere, or leave out `exact`")
                           .text());
}

template <class Task, class Names>
void contributeErrors(const Task& task, Label<double, Cell> variable, const Expression& exact,
                      const Names& names) {
  const auto u = task.read(Old, variable);
  const double volume = cellVolume(task.level());
  ExactSum l1;
  ExactSum l2;
  double largest = 0.0;
  const auto add = [&](Index x, double value) {
    const double error = std::abs(u(x) - value);
    if (std::isnan(value)) notANumber(x, task.level(), task.time());
    l1.add(error * volume);
    l2.add(error * error * volume);
    largest = std::max(largest, error);
  };
  task.forEachUncovered(
      [&](const Box& box) { forEachValue(exact, task.level(), box, Cell, task.time(), add); });
  task.contribute(names.l1, l1);
  task.contribute(names.l2, l2);
  task.contribute(names.max, largest);
}

}  // namespace

void ErrorNorms::declareParameters(ParameterTable& table) {
  table.expression("exact")
      .doc("the exact solution; where given, the history has the norms of the error")
      .mayChangeOnRestart()
      .optional();
}

ErrorNorms::ErrorNorms(std::string prefix, const ParameterValues& values, ComponentSetup& setup,
                       Label<double, Cell> variable)
    : prefix_(std::move(prefix)), table_(values.table()), variable_(variable) {
  const Real3 lower = setup.geometry.lower;
  const Real3 upper = setup.geometry.upper;
  domainVolume_ = (upper.x - lower.x) * (upper.y - lower.y) * (upper.z - lower.z);
  const auto named = [&](const char* what) { return setup.labels.reduction(table_ + "." + what); };
  names_.total = named("total");
  names_.least = named("min");
  names_.largest = named("max");
  if (!values.has("exact")) return;
  exact_ = values.expression("exact");
  names_.l1 = named("error_l1");
  names_.l2 = named("error_l2");
  names_.max = named("error_max");
}

void ErrorNorms::declareTasks(StepPlan& plan) const {
  plan.task(prefix_ + "::totals")
      .reads(Old, variable_)
      .contributes(names_.total, Sum)
      .contributes(names_.least, Min)
      .contributes(names_.largest, Max)
      .runs(normTotals(variable_, {names_.total, names_.least, names_.largest}));
  if (!exact_) return;
  plan.task(prefix_ + "::errors")
      .reads(Old, variable_)
      .contributes(names_.l1, Sum)
      .contributes(names_.l2, Sum)
      .contributes(names_.max, Max)
      .runs<Cpu>(
          [u = variable_, f = *exact_, n = names_](const auto& task) { contributeErrors(task, u, f, n); });
}

std::vector<Diagnostic> ErrorNorms::diagnostics() const {
  std::vector<Diagnostic> columns{{table_ + ".total", names_.total, {}},
                                  {table_ + ".min", names_.least, {}},
                                  {table_ + ".max", names_.largest, {}}};
  if (!exact_) return columns;
  const double volume = domainVolume_;
  columns.push_back({table_ + ".error_l1", names_.l1, [volume](double sum) { return sum / volume; }});
  columns.push_back(
      {table_ + ".error_l2", names_.l2, [volume](double sum) { return std::sqrt(sum / volume); }});
  columns.push_back({table_ + ".error_max", names_.max, {}});
  return columns;
}

}  // namespace tessera
