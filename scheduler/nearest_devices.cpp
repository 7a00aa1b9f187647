#include "scheduler/nearest_devices.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <hwloc.h>

#include "core/text/contracts.hpp"
#include "scheduler/hwloc_topology.hpp"

namespace tessera {
namespace {

constexpr int kSameNode = 10;
constexpr int kOtherNode = 20;

using detail::Bitmap;
using detail::Topology;

/// Null where the machine does not tell: nearness is a hint, and a run goes on without.
Topology loadWithDevices(const std::string& xml) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (!xml.empty() && hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size()) + 1) != 0)
    return nullptr;
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

Bitmap coresOf(hwloc_topology_t topology, std::span<const int> cores) {
  Bitmap set(hwloc_bitmap_alloc());
  for (const int core : cores) hwloc_bitmap_set(set.get(), static_cast<unsigned>(core));
  if (cores.empty() && hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(topology));
  }
  return set;
}

/// Latencies between NUMA nodes as the firmware tells them.
class NodeDistances {
 public:
  explicit NodeDistances(hwloc_topology_t topology) : topology_(topology) {
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology, "NUMALatency", &count, &matrix_, 0) != 0 || count == 0)
      matrix_ = nullptr;
  }
  ~NodeDistances() {
    if (matrix_ != nullptr) hwloc_distances_release(topology_, matrix_);
  }
  NodeDistances(const NodeDistances&) = delete;
  NodeDistances& operator=(const NodeDistances&) = delete;

  /// Between the nearest nodes of two sets.
  int between(hwloc_const_nodeset_t a, hwloc_const_nodeset_t b) const {
    if (hwloc_bitmap_intersects(a, b) != 0) return kSameNode;
    int nearest = DeviceNearness::kUnknown;
    if (matrix_ == nullptr) return kOtherNode;
    for (unsigned i = 0; i < matrix_->nbobjs; ++i) {
      for (unsigned j = 0; j < matrix_->nbobjs; ++j) {
        const bool wanted = hwloc_bitmap_isset(a, matrix_->objs[i]->os_index) != 0 &&
                            hwloc_bitmap_isset(b, matrix_->objs[j]->os_index) != 0;
        if (wanted) nearest = std::min(nearest, static_cast<int>(matrix_->values[i * matrix_->nbobjs + j]));
      }
    }
    return nearest == DeviceNearness::kUnknown ? kOtherNode : nearest;
  }

 private:
  hwloc_topology_t topology_;
  hwloc_distances_s* matrix_ = nullptr;
};

/// Takers `distances[taker][offer]`, not fewer than offers: each takes one, and none of the offers is taken
/// more than once more than another.
std::vector<std::int32_t> takeOneEach(const std::vector<std::vector<int>>& distances, std::size_t offers,
                                      bool inTurns) {
  const std::size_t takers = distances.size();
  const std::size_t all = takers / offers;
  std::size_t extras = takers % offers;  // offers that may be taken once more
  std::vector<std::size_t> taken(offers, 0);
  std::vector<std::int32_t> choice(takers, -1);
  std::set<int> steps;
  for (const auto& row : distances) steps.insert(row.begin(), row.end());
  for (const int step : steps) {
    for (std::size_t t = 0; t < takers; ++t) {
      if (choice[t] >= 0) continue;
      std::int32_t best = -1;
      for (std::size_t o = 0; o < offers; ++o) {
        const bool hasRoom = taken[o] < all || (taken[o] == all && extras > 0);
        if (distances[t][o] != step || !hasRoom) continue;
        const bool better = best < 0 || (inTurns && taken[o] < taken[static_cast<std::size_t>(best)]);
        if (better) best = static_cast<std::int32_t>(o);
      }
      if (best < 0) continue;
      choice[t] = best;
      if (taken[static_cast<std::size_t>(best)]++ == all) --extras;
    }
  }
  return choice;
}

}  // namespace

std::vector<DeviceNearness> nearnessOf(std::span<const std::string> pciAddresses, std::span<const int> cores,
                                       const std::string& topologyXml) {
  std::vector<DeviceNearness> result(pciAddresses.size());
  const Topology topology = loadWithDevices(topologyXml);
  if (topology == nullptr) return result;
  const Bitmap own = coresOf(topology.get(), cores);
  const Bitmap nodes(hwloc_bitmap_alloc());
  hwloc_cpuset_to_nodeset(topology.get(), own.get(), nodes.get());
  const NodeDistances distances(topology.get());
  for (std::size_t n = 0; n < pciAddresses.size(); ++n) {
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), pciAddresses[n].c_str());
    if (device == nullptr) continue;
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology.get(), device);
    if (near == nullptr || near->nodeset == nullptr || hwloc_bitmap_iszero(near->nodeset) != 0) continue;
    result[n] = {hwloc_bitmap_first(near->nodeset), distances.between(near->nodeset, nodes.get())};
  }
  return result;
}

std::vector<std::int32_t> orderByDistance(std::span<const DeviceNearness> devices) {
  std::vector<std::int32_t> order(devices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return devices[static_cast<std::size_t>(a)].distance < devices[static_cast<std::size_t>(b)].distance;
  });
  return order;
}

std::vector<std::vector<std::int32_t>> dealDevices(const std::vector<std::vector<int>>& distances) {
  const std::size_t ranks = distances.size();
  std::vector<std::vector<std::int32_t>> dealt(ranks);
  const std::size_t devices = ranks == 0 ? 0 : distances.front().size();
  for (const auto& row : distances) {
    TESSERA_EXPECT(row.size() == devices, "give each rank's distance from each device of the host");
  }
  if (devices == 0) return dealt;
  if (ranks >= devices) {
    const std::vector<std::int32_t> choice = takeOneEach(distances, devices, /*inTurns=*/true);
    for (std::size_t r = 0; r < ranks; ++r) dealt[r].push_back(choice[r]);
    return dealt;
  }
  std::vector<std::vector<int>> ofDevices(devices, std::vector<int>(ranks));
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t d = 0; d < devices; ++d) ofDevices[d][r] = distances[r][d];
  }
  const std::vector<std::int32_t> choice = takeOneEach(ofDevices, ranks, /*inTurns=*/false);
  for (std::size_t d = 0; d < devices; ++d) {
    dealt[static_cast<std::size_t>(choice[d])].push_back(static_cast<std::int32_t>(d));
  }
  return dealt;
}

}  // namespace tessera
