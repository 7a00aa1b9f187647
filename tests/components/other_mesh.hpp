#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "taskgraph/owned_mesh.hpp"

namespace tessera::test {

/// Whether other meshes have other patches too, or the same ones with other owners and in another order.
enum class OtherPatches : bool { No, Yes };

/// Draws meshes of the same cells as a given one: its patches dealt out in another way, in another order, or
/// other patches altogether. The same seed gives the same meshes, on every rank.
class OtherMeshes {
 public:
  OtherMeshes(std::shared_ptr<const Hierarchy> first, int ranks, std::uint64_t seed,
              OtherPatches patches = OtherPatches::Yes)
      : first_(std::move(first)), ranks_(ranks), patches_(patches), random_(seed) {}

  OwnedMesh draw();
  /// Goes on with other cells, where the mesh has followed the solution.
  void startFrom(std::shared_ptr<const Hierarchy> mesh) { first_ = std::move(mesh); }
  /// Below `n`.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  std::shared_ptr<const Hierarchy> cutAndShuffled();
  std::vector<Box> cut(const Level& level);

  std::shared_ptr<const Hierarchy> first_;
  int ranks_;
  OtherPatches patches_;
  std::mt19937_64 random_;
};

}  // namespace tessera::test
