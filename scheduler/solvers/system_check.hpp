#pragma once

#include <optional>
#include <string>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/loops/check_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"
#include "scheduler/solvers/solver_options.hpp"
#include "scheduler/solvers/solver_system.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// Looks at an assembled system before it is solved, and says in sentences what is wrong with it, or with
/// its solution. All ranks find the same, and call its functions at once.
class SystemCheck {
 public:
  /// All outlive the object.
  SystemCheck(const std::string& name, const SolverOptions& options, SolverSystem& system,
              Transport& transport)
      : name_(name),
        options_(options),
        system_(system),
        transport_(transport),
        device_(system.levels.front()->boxes.device) {}

  /// Finds what the system says of itself: scale, and whether it is singular; then its right-hand sides are
  /// made to add up to 0. False, with the report's failure, where there is nothing to solve.
  bool prepare(const LinearSystem& declared, SolveReport& report);
  /// That a solve has not come to its tolerance; the right-hand sides hold the residual.
  std::string notConverged(const SolveReport& report);

 private:
  /// A cell by its level and its place in the order of all cells of the level; infinite: none.
  struct Place {
    double level;
    double cell;
  };
  /// Where the matrix or the right-hand side is no number, or with holes an unknown has no equation.
  std::optional<std::string> firstBadNumber(bool hasHoles);
  bool conductsToSides();
  /// Gives one level without weights some, where it has holes.
  void noteHoles();
  void addSides(SystemLevel& level, std::size_t n, const Unknowns& unknowns, Largest& conducts);
  bool balance(bool isRounding, SolveReport& report);
  bool keepsSums(SolveReport& report);
  template <class KernelOf>
  Place firstWhere(const KernelOf& kernelOf);
  std::string cellAt(Place place) const;

  const std::string& name_;
  const SolverOptions& options_;
  SolverSystem& system_;
  Transport& transport_;
  SolverDevice* const device_;
};

}  // namespace tessera
