#pragma once

#include "scheduler/engine/program.hpp"

namespace tessera::engine {

/// The kinds of task that Tessera ships, for programs that bring none of their own: adders, vector_add,
/// matrix_product, molecular_dynamics, harmonic_replica, spin, failing and spawn_tree, each in a header here.
const Program& shippedProgram();

}  // namespace tessera::engine
