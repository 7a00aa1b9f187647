#include "tools/simulation/program/solves_on_devices.hpp"

#include <set>

namespace tessera {

DeviceOptions withMemoryForSolves(DeviceOptions devices, std::span<const StepProgram> programs,
                                  const SolverOptions& solver, const Hierarchy& hierarchy) {
  const bool solvesThere = solver.library == SolverLibrary::Own && hierarchy.levels().size() == 1;
  if (devices.kind == DeviceKind::None || devices.placement == DevicePlacement::Cpu || !solvesThere)
    return devices;
  std::set<LabelId> labels;
  for (const StepProgram& program : programs) {
    for (const SolveItem* solve : program.solveItems()) {
      const CallItem access = solve->access();
      for (const auto& [generation, label] : access.reads) labels.insert(label);
      labels.insert(access.writes.begin(), access.writes.end());
    }
  }
  devices.alsoHas.assign(labels.begin(), labels.end());
  return devices;
}

}  // namespace tessera
