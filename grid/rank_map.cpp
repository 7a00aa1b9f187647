#include "grid/rank_map.hpp"

#include "grid/balance/deal_out.hpp"

namespace tessera {

std::vector<int> cutAlongCurve(const Level& level, std::span<const Patch> patches, int parts) {
  std::vector<std::uint64_t> positions;
  std::vector<double> cells;
  for (const Patch& patch : patches) {
    positions.push_back(positionOnCurve(Curve::Morton, patch.cells, level.domain(), level.geometry()));
    cells.push_back(static_cast<double>(patch.cells.volume()));
  }
  return cutByCost(positions, cells, parts);
}

RankMap distribute(const Hierarchy& hierarchy, int ranks) {
  return dealOut(hierarchy, costsByCells(hierarchy, {}), ranks, {});
}

}  // namespace tessera
