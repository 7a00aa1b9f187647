#include "scheduler/hwloc_topology.hpp"

#include <hwloc.h>

namespace tessera::detail {

void TopologyEnd::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

void BitmapEnd::operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }

}  // namespace tessera::detail
