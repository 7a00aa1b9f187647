#pragma once

#include <span>

#include "components/step_program.hpp"
#include "grid/hierarchy.hpp"
#include "scheduler/device/device_options.hpp"
#include "scheduler/solvers/solver_options.hpp"

namespace tessera {

/// Options by which devices have memory also for what linear solves read and write, where solves of these
/// programs may run on devices; else the same options.
DeviceOptions withMemoryForSolves(DeviceOptions devices, std::span<const StepProgram> programs,
                                  const SolverOptions& solver, const Hierarchy& hierarchy);

}  // namespace tessera
