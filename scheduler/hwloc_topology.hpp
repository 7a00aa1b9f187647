#pragma once

#include <memory>

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace tessera::detail {

struct TopologyEnd {
  void operator()(hwloc_topology* topology) const;
};
/// What hwloc knows of a machine.
using Topology = std::unique_ptr<hwloc_topology, TopologyEnd>;

struct BitmapEnd {
  void operator()(hwloc_bitmap_s* bitmap) const;
};
/// A set of hardware threads or of memory nodes.
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapEnd>;

}  // namespace tessera::detail
