#pragma once

#include <cstdint>

#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// Bytes that one rank will hold while it runs, halos included: the high-water mark, known before the run.
/// Alignment of each allocation comes on top (below 64 bytes each).
struct MemoryPlan {
  std::int64_t fields = 0;              ///< variables on own patches, all generations
  std::int64_t gathers = 0;             ///< buffers for cells of other levels, of the plan that needs most
  std::int64_t taskScratch = 0;         ///< scratch fields of the task that has most: for each worker
  std::int64_t fieldsWithoutReuse = 0;  ///< if no two variables or patches shared memory
  std::int64_t gathersWithoutReuse = 0;

  std::int64_t total() const { return fields + gathers; }
  std::int64_t totalWithoutReuse() const { return fieldsWithoutReuse + gathersWithoutReuse; }
};

/// Bytes of the scratch fields of a task on the largest own patch of a level.
std::int64_t mostScratchBytes(const CompiledGraphs& graphs, LevelId level, const TaskDeclaration& task);

MemoryPlan memoryPlanOf(const CompiledGraphs& graphs);

/// Bytes of the gather buffers of one plan, shared ones once.
std::int64_t gatherBytes(const CompiledGraphs& graphs, std::size_t plan);

}  // namespace tessera
