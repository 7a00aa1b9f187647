#pragma once

#include <memory>

#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/owned_mesh.hpp"
#include "tools/simulation/program/program_run.hpp"

namespace tessera {

/// The mesh that a run stands on at a moment, and all of a rank that is laid out for it: graphs, memory, and
/// what replays them. Its parts know one another's addresses, so it stays where it was made, and another mesh
/// comes with another state.
struct MeshState {
  OwnedMesh mesh;
  CompiledGraphs graphs;
  std::unique_ptr<DataWarehouse> data;
  std::unique_ptr<StepRunner> runner;
  std::unique_ptr<ProgramRun> program;
};

}  // namespace tessera
