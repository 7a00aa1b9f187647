#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "grid/rank_map.hpp"
#include "scheduler/solvers/assemble.hpp"
#include "scheduler/solvers/holes/holes.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "scheduler/solvers/solver_system.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// One solve of a step program on one mesh, made ready to be run step after step: it brings the system from
/// the variables of the patches into the solver's boxes, checks it, has it solved and puts the solution back.
/// Collective: all ranks make one, and call `run`, at once, each on its main thread.
class LinearSolve {
 public:
  /// For systems like this one: with a flow and holes, or without. All levels of the hierarchy are solved on
  /// together. All but `options` and `system` outlive it. With a device, on one level and by our own solver,
  /// this rank works there, and else on the host: other ranks need not do the same, and no bit depends on it.
  /// DeckError: see `makeLinearSolver`; a flow or holes on several levels.
  LinearSolve(std::string name, const LinearSystem& system, const SolverOptions& options,
              const Hierarchy& hierarchy, const RankMap& owners, Transport& transport,
              const DeviceAccess* device = nullptr);

  /// Whether systems on this mesh can be solved on a device, which has room for them.
  static bool mayUse(const DeviceAccess& device, const SolverOptions& options, const Hierarchy& hierarchy,
                     const RankMap& owners, Rank rank);
  /// Whether this rank solves on a device.
  bool isOnDevice() const { return device_ != nullptr; }

  /// Solves for `system.solution`; others of the system are systems of their own. The solution to begin with
  /// and New right-hand side and coefficients are where it works. Afterwards New solution is there what was
  /// found, whatever the report says, but where the system is impossible.
  SolveReport run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment);

  const std::string& name() const { return name_; }
  /// Whether it is for systems like this one.
  bool isFor(const LinearSystem& system) const {
    return system.flow.has_value() == (assembled_.kind() == MatrixKind::General) &&
           system.holes.has_value() == (holes_ != nullptr);
  }

 private:
  void assembleAll(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment);
  /// solution = factor * solution + a in all unknowns.
  void changeSolution(double factor, double a);
  void fixMean(double mean);

  const std::string name_;
  const SolverOptions options_;
  Transport& transport_;
  const std::unique_ptr<SolverDevice> device_;  ///< null: on the host
  SideStaging sides_;
  SolverSystem assembled_;
  std::vector<LayerExchange> layers_;  ///< by level
  std::unique_ptr<Holes> holes_;
  std::unique_ptr<LinearSolver> solver_;
};

}  // namespace tessera
