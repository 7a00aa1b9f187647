#pragma once

#include "core/deck/parameter_values.hpp"
#include "core/deck/parameters.hpp"
#include "scheduler/solvers/solver_options.hpp"

namespace tessera {

/// What becomes of a step with a linear solve that does not come to its tolerance.
enum class SolveFailure {
  Stop,   ///< the run ends
  Retry,  ///< the step is refused, and taken again half as long (time.retries)
  Warn,   ///< the run goes on with what there is
};

/// The deck's [solver].
struct SolverSettings {
  SolverOptions options{};
  SolveFailure onFailure = SolveFailure::Stop;
};

/// Declares [solver].
ParameterTable solverTable();

SolverSettings solverSettingsOf(const ParameterValues& solver);

}  // namespace tessera
