#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grid/geometry.hpp"
#include "grid/patch.hpp"
#include "grid/search/patch_index.hpp"

namespace tessera {

/// The cells, or all nodes or faces on their borders. An axis of one cell has none, but x: its two faces are
/// images of one another.
Box closedBox(const Geometry& geometry, const Box& cells, Centering centering);

/// The cells, or their lower borders, and the upper border of the domain where the cells touch it. Those of
/// different patches are disjoint.
Box lowerBorders(const Geometry& geometry, const Box& domain, const Box& cells, Centering centering);

/// The nodes and faces of a level that are the lower border of no cell of it, though a cell is beside them:
/// the upper borders of a refined region. Each belongs to the first patch, by place, that has such a cell;
/// `BorderOwners` lists them by patch. A level that covers its domain has none. Immutable.
class BorderOwners {
 public:
  BorderOwners() = default;
  BorderOwners(const Geometry& geometry, const Box& domain, std::span<const Patch> patches,
               const PatchIndex& index);

  /// The boxes that belong to the patch at a place of the level's list, disjoint, in an order that depends on
  /// the patches around it only.
  template <class Visit>
  void visit(std::size_t patch, Centering centering, Visit&& visit) const {
    if (empty_ || centering == Centering::Cell) return;
    const std::vector<Part>& parts = partsOf_[static_cast<std::size_t>(centering)];
    const auto n = static_cast<std::int32_t>(patch);
    auto at = std::lower_bound(parts.begin(), parts.end(), n,
                               [](const Part& part, std::int32_t number) { return part.patch < number; });
    for (; at != parts.end() && at->patch == n; ++at) visit(at->box);
  }

 private:
  struct Part {
    std::int32_t patch = 0;
    Box box;
  };

  bool empty_ = true;
  std::array<std::vector<Part>, 5> partsOf_;  ///< by centering, ascending
};

}  // namespace tessera
