#include "components/error_norms.hpp"

#include "components/error_norms_kernels.hpp"

namespace tessera {

void ErrorNorms::declareParameters(ParameterTable& table) {
  table.expression("exact")
      .doc("the exact solution; where given, the history has the norms of the error")
      .mayChangeOnRestart()
      .optional();
}

ErrorNorms::ErrorNorms(std::string prefix, const ParameterValues& values, ComponentSetup& setup,
                       Label<double, Cell> variable)
    : prefix_(std::move(prefix)),
      table_(values.table()),
      variable_(variable),
      unit_(setup.labels.info(variable.id).unit),
      errors_(prefix_, setup.geometry) {
  const auto named = [&](const char* what) { return setup.labels.reduction(table_ + "." + what); };
  names_.total = named("total");
  names_.least = named("min");
  names_.largest = named("max");
  if (values.has("exact")) errors_.add(setup.labels, table_, variable_, values.expression("exact"));
}

void ErrorNorms::declareTasks(StepPlan& plan) const {
  plan.task(prefix_ + "::totals")
      .reads(Old, variable_)
      .contributes(names_.total, Sum)
      .contributes(names_.least, Min)
      .contributes(names_.largest, Max)
      .runs(normTotals(variable_, {names_.total, names_.least, names_.largest}));
  errors_.declareTasks(plan);
}

std::vector<Diagnostic> ErrorNorms::diagnostics() const {
  std::vector<Diagnostic> columns{
      {.name = table_ + ".total", .reduction = names_.total, .unit = integralUnit(unit_)},
      {.name = table_ + ".min", .reduction = names_.least, .unit = unit_},
      {.name = table_ + ".max", .reduction = names_.largest, .unit = unit_}};
  for (Diagnostic& column : errors_.diagnostics()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace tessera
