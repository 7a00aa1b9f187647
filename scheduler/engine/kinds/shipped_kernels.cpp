#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/harmonic_replica.hpp"
#include "scheduler/engine/kinds/matrix_product.hpp"
#include "scheduler/engine/kinds/molecular_dynamics.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spawn_tree.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "scheduler/engine/make_program.hpp"

namespace tessera::engine {

const Program& shippedProgram() {
  using enum TaskWidth;
  static const Program program =
      makeProgram<Adder<Lane>, Adder<Warp>, Adder<Block>, VectorAdd, MatrixProduct<Warp>,
                  MatrixProduct<Block>, MolecularDynamics<Warp>, MolecularDynamics<Block>, HarmonicReplica,
                  Spin, Failing, SpawnTree<Lane>, SpawnTree<Warp>>("shipped");
  return program;
}

}  // namespace tessera::engine
