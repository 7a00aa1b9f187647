#include "tools/simulation/program/solve_book.hpp"

#include <algorithm>

namespace tessera {

void SolveBook::add(const std::string& name, const SolveReport& report) {
  auto found = std::find_if(totals_.begin(), totals_.end(), [&](const auto& t) { return t.name == name; });
  if (found == totals_.end()) found = totals_.insert(totals_.end(), SolveTotals{name});
  ++found->solves;
  found->iterations += report.iterations;
  found->setups += report.madeSetup ? 1 : 0;
  found->failures += report.result == SolveReport::Result::Converged ? 0 : 1;
  found->seconds += report.seconds;
  found->device += report.device;
  found->largestImbalance = std::max(found->largestImbalance, report.imbalance);
  found->lastIterations = report.iterations;
  found->lastResidual = report.residual;
}

SolveTotals SolveBook::of(const std::string& name) const {
  const auto found =
      std::find_if(totals_.begin(), totals_.end(), [&](const auto& t) { return t.name == name; });
  return found == totals_.end() ? SolveTotals{name} : *found;
}

SolveTotals SolveBook::sum() const {
  SolveTotals sum;
  for (const SolveTotals& one : totals_) {
    sum.solves += one.solves;
    sum.iterations += one.iterations;
    sum.setups += one.setups;
    sum.failures += one.failures;
    sum.seconds += one.seconds;
    sum.device += one.device;
    sum.largestImbalance = std::max(sum.largestImbalance, one.largestImbalance);
  }
  return sum;
}

}  // namespace tessera
