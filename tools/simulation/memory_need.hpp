#pragma once

#include "core/memory/available_memory.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {

/// Of how many ranks, and how many of them share this machine.
struct RanksHere {
  int all = 1;
  int here = 1;
};

/// Before the mesh is made: throws InternalError where the ranks of this machine need more memory than there
/// is, whatever the layout: one value of each variable that lives from step to step, and what a patch costs.
void requireMemory(const Model& model, RanksHere ranks, const AvailableMemory& available);

/// Before anything is allocated, with what this rank's graphs plan: the same, where the machine cannot hold
/// it, or not that of all its ranks even if the others need a good deal less.
void requireMemory(const CompiledGraphs& graphs, RanksHere ranks, const AvailableMemory& available);

}  // namespace tessera
