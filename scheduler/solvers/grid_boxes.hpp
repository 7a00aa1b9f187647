#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"
#include "grid/level.hpp"
#include "grid/rank_map.hpp"

namespace tessera {

class SolverDevice;

/// The boxes that a level of a solver is cut into, and whose they are: the patches of each rank, merged to
/// few large boxes. The same on every rank, but for `own`. A box may be empty.
struct GridBoxes {
  Box domain;                        ///< from (0, 0, 0) on
  std::array<bool, kAxes> active{};  ///< axes with differences; the others have one cell and no layer around
  std::array<bool, kAxes> wraps{};   ///< active axes that are periodic
  std::vector<Box> boxes;            ///< of all ranks, disjoint
  std::vector<Rank> owners;          ///< of each
  std::vector<std::size_t> own;      ///< positions of this rank's boxes
  SolverDevice* device = nullptr;    ///< where this rank has their numbers; null: on the host

  /// The cells that are kept around a box.
  Halo layer() const;
  /// What the owner of a box has of numbers on faces: those of its cells, and where the box ends the domain
  /// the faces there.
  Box withSides(const Box& box) const;
  /// The cells of a box that have no neighbour in the layer around it, except beyond the domain.
  Box inside(const Box& box) const;
  /// The steps that lead from the domain to its images across a period, (0, 0, 0) among them.
  std::vector<Index> images() const;
  std::int64_t cells() const { return domain.volume(); }
};

/// Those of a level.
GridBoxes gridBoxes(const Level& level, const RankMap& owners, Rank rank);
/// The next coarser ones: cell C has the cells from C * ratio on. A coarse cell belongs to the box that has
/// the first of its cells; each box has its coarse one, though it be empty.
GridBoxes coarsened(const GridBoxes& fine, Extent ratio, Rank rank);
/// One box over the whole domain, of every rank for itself.
GridBoxes replicated(const GridBoxes& boxes, Rank rank);

/// The same cells in fewer boxes, by joining those that have a whole side in common.
std::vector<Box> mergedBoxes(std::vector<Box> boxes);

}  // namespace tessera
