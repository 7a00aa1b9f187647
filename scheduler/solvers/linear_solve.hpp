#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "grid/rank_map.hpp"
#include "scheduler/solvers/assemble.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// One solve of a step program on one mesh, made ready to be run step after step: it brings the system from
/// the variables of the patches into the solver's boxes, checks it, has it solved and puts the solution back.
/// Collective: all ranks make one, and call `run`, at once, each on its main thread.
class LinearSolve {
 public:
  /// The hierarchy's level 0 is solved on. All but `options` outlive it.
  LinearSolve(std::string name, const SolverOptions& options, const Hierarchy& hierarchy,
              const RankMap& owners, Transport& transport);

  /// The solution to begin with and New right-hand side and coefficients are on the host. Afterwards New
  /// solution is what was found, whatever the report says, but where the system is impossible.
  SolveReport run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment);

  const std::string& name() const { return name_; }

 private:
  /// False, with the report's failure, where there is nothing to solve.
  bool check(SolveReport& report);
  /// Where the matrix or the right-hand side is no number.
  std::optional<std::string> firstBadNumber();
  bool balance(SolveReport& report);
  void fixMean();
  std::string notConverged(const SolveReport& report);
  /// The place of a cell in the order of all cells of the level.
  double placeOf(Index x) const;
  std::string cellAt(double place) const;

  const std::string name_;
  LinearSystem system_;  ///< of the last run
  const SolverOptions options_;
  const Level& level_;
  Transport& transport_;
  GridBoxes boxes_;
  GridSystem assembled_;
  LayerExchange layers_;
  std::unique_ptr<LinearSolver> solver_;
};

}  // namespace tessera
