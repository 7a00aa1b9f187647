#pragma once

#include <vector>

#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// What of the variables that live from step to step is stored, by level: the same on every rank.
std::vector<LevelLabel> keptOn(const CompiledGraphs& graphs, const std::vector<LabelId>& persistent);

/// A contract: both meshes have the same levels, and as many cells on each.
void expectSameCells(const Hierarchy& before, const Hierarchy& after);

/// Throws InputError where a checkpoint has this block in another shape. One that is not there is for the
/// reader to tell.
void expectBlock(const CheckpointReader& checkpoint, const BlockDescription& wanted);

}  // namespace tessera
