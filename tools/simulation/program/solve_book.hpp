#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/solvers/solver_options.hpp"

namespace tessera {

/// What the solves of one item of a step program have come to.
struct SolveTotals {
  std::string name;
  std::int64_t solves = 0;
  std::int64_t iterations = 0;
  std::int64_t setups = 0;
  std::int64_t failures = 0;
  double seconds = 0.0;
  DeviceTraffic device{};  ///< of this rank
  double largestImbalance = 0.0;
  std::int64_t lastIterations = 0;
  double lastResidual = 0.0;
};

/// Keeps count of the solves of a run, whatever meshes it stands on. The same on every rank but for seconds.
class SolveBook {
 public:
  void add(const std::string& name, const SolveReport& report);
  /// A solve went wrong, and the run goes on.
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  /// What was warned of since the last call.
  std::vector<std::string> takeWarnings() { return std::exchange(warnings_, {}); }

  /// By item, in the order of their first solves.
  const std::vector<SolveTotals>& totals() const { return totals_; }
  /// Of one item; zeros where it has not run.
  SolveTotals of(const std::string& name) const;
  /// Of all items together.
  SolveTotals sum() const;

 private:
  std::vector<SolveTotals> totals_;
  std::vector<std::string> warnings_;
};

}  // namespace tessera
