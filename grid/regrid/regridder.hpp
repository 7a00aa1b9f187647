#pragma once

#include <memory>
#include <vector>

#include "core/geometry/box.hpp"
#include "grid/regrid/block_set.hpp"

namespace tessera {

/// Finds the region of a level to be refined from the blocks that are flagged, and cuts it into patches. A
/// pure function of the blocks, whatever they come from; mirrored blocks give mirrored regions and patches.
class Regridder {
 public:
  virtual ~Regridder() = default;
  /// Disjoint boxes of blocks, in the order of their places, in which all flagged blocks lie.
  virtual std::vector<Box> regionOf(BlockSet& flagged) const = 0;
  /// The patches of such a box, in blocks, none longer than `longest` along an axis.
  virtual std::vector<Box> patchesOf(const Box& region, Extent longest) const = 0;
};

/// Each flagged block is refined and is a patch; nothing else is. The same flags give the same mesh, and its
/// own flags give it again.
std::unique_ptr<Regridder> makeTiledRegridder();

/// Boxes around clusters of flagged blocks, of which at least the part `efficiency` (0 to 1) is flagged, as
/// Berger and Rigoutsos find them: a box that is not full enough is cut where no block is flagged, else where
/// the flagged blocks of its planes change the most, else in the middle. Larger and fewer patches than tiles.
std::unique_ptr<Regridder> makeClusteringRegridder(double efficiency);

}  // namespace tessera
