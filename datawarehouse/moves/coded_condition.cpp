#include "datawarehouse/moves/coded_condition.hpp"

namespace tessera {

HaloRegion haloRegion(const Box& region, int side, const LabelInfo& info, const Level& level, std::byte* data,
                      const Layout& layout, double time) {
  const int axis = side / 2;
  HaloRegion at;
  at.data = data;
  at.layout = layout;
  at.components = info.type.components;
  at.region = region;
  at.side = side;
  at.about =
      region.lo[axis] + mirroredIndex(region.lo, BoundaryKind::Reflect, info.centering, level, side)[axis];
  at.edge = mirroredIndex(region.lo, BoundaryKind::Outflow, info.centering, level, side)[axis];
  at.first = level.position({}, info.centering);
  at.spacing = level.spacing();
  at.time = time;
  return at;
}

}  // namespace tessera
