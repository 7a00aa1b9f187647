#pragma once

#include <cstdint>

#include "core/memory/available_memory.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {

/// How many ranks there are, and how many of them share this machine.
struct RanksHere {
  int all = 1;
  int here = 1;
};

/// What there is: for all ranks of this machine together, and for this one alone.
struct MemoryHere {
  AvailableMemory machine = availableOnMachine();
  AvailableMemory process = availableToProcess();
};

/// Before the mesh is made: throws InternalError where this rank, or those of this machine together, need
/// more memory than there is, whatever the layout: one value of each variable that lives from step to step,
/// and what a patch costs.
void requireMemory(const Model& model, RanksHere ranks, const MemoryHere& memory);

/// Likewise before the graphs of a mesh are made that a run goes over to.
void requireMemory(const Model& model, const Hierarchy& mesh, RanksHere ranks, const MemoryHere& memory);

/// About what this rank's mesh, graphs and plans take for its patches, beside their values.
std::int64_t bytesForPatches(const Model& model, RanksHere ranks);

/// Before anything is allocated, with what this rank's graphs plan: the same. Of the other ranks nothing is
/// known; they may need a good deal less.
void requireMemory(const CompiledGraphs& graphs, RanksHere ranks, const MemoryHere& memory);

}  // namespace tessera
