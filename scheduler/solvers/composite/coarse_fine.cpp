#include "scheduler/solvers/composite/coarse_fine.hpp"

#include <algorithm>

#include "grid/refine.hpp"
#include "grid/search/box_tree.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

GridBoxes shadowsOf(const GridBoxes& coarse, const GridBoxes& fine, Extent ratio) {
  GridBoxes shadows = fine;
  shadows.domain = coarse.domain;
  for (Box& box : shadows.boxes) box = box.empty() ? Box{} : coarsen(box, ratio);
  return shadows;
}

Refinement refinementOf(const GridBoxes& coarse, Extent ratio) {
  Refinement r{ratio, coarse.domain};
  for (int d = 0; d < kAxes; ++d) {
    r.wraps[d] = coarse.wraps[static_cast<std::size_t>(d)] ? 1 : 0;
    r.active[d] = coarse.active[static_cast<std::size_t>(d)] ? 1 : 0;
  }
  return r;
}

BoxRegions cellsOf(const GridBoxes& grid) {
  BoxRegions regions;
  for (const Box& box : grid.boxes) regions.push_back({box});
  return regions;
}

/// With one cell around each box, as far as the layer goes.
BoxRegions cellsAround(const GridBoxes& grid) {
  const Index lower = grid.layer().lo;
  BoxRegions regions;
  for (const Box& box : grid.boxes) regions.push_back({grow(box, {lower, lower})});
  return regions;
}

/// The coarse cells one deep beyond a side of a box, as far as the domain goes.
Box beyondSide(const GridBoxes& grid, Box cells, int axis, bool high) {
  if (high) {
    cells.lo[axis] = cells.hi[axis]++;
  } else {
    cells.hi[axis] = cells.lo[axis]--;
  }
  if (grid.wraps[static_cast<std::size_t>(axis)]) return cells;
  cells.lo[axis] = std::max(cells.lo[axis], grid.domain.lo[axis]);
  cells.hi[axis] = std::min(cells.hi[axis], grid.domain.hi[axis]);
  return cells;
}

}  // namespace

CoarseFine::CoarseFine(const GridBoxes& coarse, const GridBoxes& fine, Extent ratio, Transport& transport)
    : fine_(fine),
      refinement_(refinementOf(coarse, ratio)),
      shadows_(shadowsOf(coarse, fine, ratio)),
      shadow_(shadows_),
      cells_(shadows_),
      flows_(shadows_),
      up_(coarse, cellsOf(coarse), shadows_, cellsAround(shadows_), transport),
      down_(shadows_, cellsOf(shadows_), coarse, cellsOf(coarse), transport) {
  const SideRegions regions = findSides();
  noteSides(regions, coarse);
  out_.reserve(kSides);
  for (const BoxRegions& ofSide : regions)
    out_.emplace_back(shadows_, ofSide, coarse, cellsOf(coarse), transport);
}

/// Per side and box: the coarse cells beyond it over which there are no fine ones.
CoarseFine::SideRegions CoarseFine::findSides() const {
  const BoxTree tree(shadows_.boxes);
  const std::vector<Index> images = shadows_.images();
  SideRegions regions;
  for (int side = 0; side < kSides; ++side) {
    BoxRegions& ofSide = regions[static_cast<std::size_t>(side)];
    ofSide.resize(shadows_.boxes.size());
    if (!shadows_.active[static_cast<std::size_t>(side / 2)]) continue;
    for (std::size_t n = 0; n < shadows_.boxes.size(); ++n) {
      const Box& box = shadows_.boxes[n];
      if (box.empty()) continue;
      const Box beyond = beyondSide(shadows_, box, side / 2, side % 2 == 1);
      std::vector<Box> open;
      if (!beyond.empty()) open.push_back(beyond);
      for (const Index& step : images) {
        tree.visit(shadows_.boxes, shift(beyond, Index{} - step),
                   [&](std::size_t other) { open = subtract(open, shift(shadows_.boxes[other], step)); });
      }
      ofSide[n] = std::move(open);
    }
  }
  return regions;
}

void CoarseFine::noteSides(const SideRegions& regions, const GridBoxes& coarse) {
  const BoxTree tree(coarse.boxes);
  std::vector<std::size_t> ownNumber(coarse.boxes.size(), coarse.own.size());
  for (std::size_t n = 0; n < coarse.own.size(); ++n) ownNumber[coarse.own[n]] = n;
  for (int side = 0; side < kSides; ++side) {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    const BoxRegions& ofSide = regions[static_cast<std::size_t>(side)];
    for (std::size_t m = 0; m < shadows_.own.size(); ++m) {
      for (const Box& outside : ofSide[shadows_.own[m]]) sides_.push_back({m, axis, high, outside});
    }
    for (const std::vector<Box>& ofBox : ofSide) {
      for (const Box& outside : ofBox) {
        for (const Index& step : coarse.images()) {
          const Box cells = shift(outside, step);
          tree.visit(coarse.boxes, cells, [&](std::size_t b) {
            if (ownNumber[b] == coarse.own.size()) return;
            const Box faces = shift(intersect(cells, coarse.boxes[b]), high ? Index{} : unit(axis));
            if (!faces.empty()) closed_.push_back({ownNumber[b], axis, high, faces});
          });
        }
      }
    }
  }
}

void CoarseFine::averageDown(CellNumbers& fine, CellNumbers& coarse) {
  for (std::size_t n = 0; n < shadows_.own.size(); ++n)
    meanOfFine(Cpu{}, shadows_.boxes[shadows_.own[n]], refinement_, fine.field(n), shadow_.field(n));
  down_.copy(shadow_, coarse);
}

void CoarseFine::interpolateLayer(CellNumbers& fine, CellNumbers& cells) {
  for (const CoarseFineSide& side : sides_)
    interpolateSide(Cpu{}, side, refinement_, shadow_.field(side.box), fine.field(side.box),
                    {cells_.field(side.box), cells.field(side.box)});
}

void CoarseFine::repeatInLayer(CellNumbers& fine) {
  for (const CoarseFineSide& side : sides_)
    repeatOnSide(Cpu{}, side, refinement_, shadow_.field(side.box), fine.field(side.box));
}

void CoarseFine::addParents(CellNumbers& fine) {
  for (std::size_t n = 0; n < fine_.own.size(); ++n)
    tessera::addParents(Cpu{}, fine_.boxes[fine_.own[n]], refinement_, shadow_.field(n), fine.field(n));
}

void CoarseFine::addFluxes(GridMatrix& matrix, CellNumbers& fine, double factor, CellNumbers& rows) {
  for (int side = 0; side < kSides; ++side) {
    CellNumbers& k = matrix.faces[static_cast<std::size_t>(side / 2)];
    for (const CoarseFineSide& one : sides_) {
      if (2 * one.axis + (one.high ? 1 : 0) != side) continue;
      sumFluxes(Cpu{}, one, refinement_, k.field(one.box), fine.field(one.box), factor,
                flows_.field(one.box));
    }
    out_[static_cast<std::size_t>(side)].add(flows_, rows);
  }
}

CellsBeyond CoarseFine::cellsBeyond(std::size_t box, Index x, int axis, Index in, CellNumbers& cells) {
  const CellsOfOne<Field<double>> have{cells_.field(box), cells.field(box)};
  return {refinement_, x, axis, in, have};
}

std::vector<CoarseFine::FineFace> CoarseFine::fineFaces(const GridBoxes& coarse, GridMatrix& fine,
                                                        CellNumbers& cells) {
  std::vector<FineFace> found;
  CellNumbers conducts(coarse);
  CellNumbers beyond(coarse);
  for (int side = 0; side < kSides; ++side) {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    const CoarseFineSide any{0, axis, high, {}};
    Extent facesOfOne = refinement_.ratio;
    facesOfOne[axis] = 1;
    CellNumbers& k = fine.faces[static_cast<std::size_t>(axis)];
    // One of the fine faces of each coarse face after the other.
    detail::forEachInOrder({{}, facesOfOne}, [&](Index within) {
      if (!high) within[axis] += refinement_.ratio[axis] - 1;
      const auto bring = [&](const auto& numberAt, CellNumbers& to) {
        for (const CoarseFineSide& one : sides_) {
          if (one.axis != axis || one.high != high) continue;
          detail::forEachInOrder(one.outside, [&](Index x) {
            flows_.field(one.box)(x) = numberAt(one.box, refinement_.first(x) + within);
          });
        }
        out_[static_cast<std::size_t>(side)].copy(flows_, to);
      };
      bring([&](std::size_t box, Index x) { return k.field(box)(x + any.face()); }, conducts);
      bring(
          [&](std::size_t box, Index x) { return cellsBeyond(box, x, axis, any.inward(), cells).asNumber(); },
          beyond);
      for (const ClosedFaces& closed : closed_) {
        if (closed.axis != axis || closed.high != high) continue;
        detail::forEachInOrder(shift(closed.faces, Index{} - (high ? Index{} : unit(axis))), [&](Index x) {
          found.push_back({closed.box, x, axis, any.inward(), refinement_.first(x) + within,
                           conducts.field(closed.box)(x), CellsBeyond(x, beyond.field(closed.box)(x))});
        });
      }
    });
  }
  return found;
}

void CoarseFine::closeFaces(GridMatrix& coarse) const {
  for (const ClosedFaces& closed : closed_)
    solverLoop(nullptr, closed.faces,
               SetCells{0.0, coarse.faces[static_cast<std::size_t>(closed.axis)].field(closed.box)});
}

void CoarseFine::scaleFaces(GridMatrix& fine, double factor) const {
  for (const CoarseFineSide& side : sides_) {
    const Field<double> k = fine.faces[static_cast<std::size_t>(side.axis)].field(side.box);
    solverLoop(nullptr, shift(side.layer(refinement_.ratio), side.face()), ScaleCells{factor, k, k});
  }
}

void CoarseFine::setUnder(double number, CellNumbers& coarse) {
  for (std::size_t n = 0; n < shadows_.own.size(); ++n)
    solverLoop(nullptr, shadows_.boxes[shadows_.own[n]], SetCells{number, shadow_.field(n)});
  down_.copy(shadow_, coarse);
}

}  // namespace tessera
