#pragma once

#include <memory>
#include <type_traits>

#include <hwloc.h>

namespace tessera::detail {

struct TopologyEnd {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
/// What hwloc knows of a machine.
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, TopologyEnd>;

struct BitmapEnd {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
/// A set of hardware threads or of memory nodes.
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, BitmapEnd>;

}  // namespace tessera::detail
