#include "scheduler/cores.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <hwloc.h>

#include "core/text/error.hpp"
#include "scheduler/hwloc_topology.hpp"

namespace tessera {
namespace {

using detail::Bitmap;
using detail::Topology;

Topology loadTopology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0 || hwloc_topology_load(raw) != 0) {
    throw InternalError("hwloc cannot tell which cores this machine has; give --threads and --no-bind");
  }
  return Topology(raw);
}

/// The first hardware thread of each core that `bound` allows.
std::vector<int> coresIn(hwloc_topology_t topology, hwloc_const_bitmap_t bound) {
  std::vector<int> cores;
  const Bitmap part(hwloc_bitmap_alloc());
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, nullptr); core != nullptr;
       core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) {
    hwloc_bitmap_and(part.get(), core->cpuset, bound);
    if (hwloc_bitmap_iszero(part.get()) == 0) cores.push_back(hwloc_bitmap_first(part.get()));
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

/// Bytes of the caches of one level that cores of `bound` use, and over how many of its cores the first goes.
struct CacheLevel {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  int coresOfFirst = 0;
};

CacheLevel cachesOf(hwloc_topology_t topology, hwloc_const_bitmap_t bound, hwloc_obj_type_t type) {
  CacheLevel level;
  for (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, type, nullptr); cache != nullptr;
       cache = hwloc_get_next_obj_by_type(topology, type, cache)) {
    if (hwloc_bitmap_intersects(cache->cpuset, bound) == 0) continue;
    const auto bytes = static_cast<std::int64_t>(cache->attr->cache.size);
    if (level.bytes == 0) {
      level.first = bytes;
      level.coresOfFirst = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE);
    }
    level.bytes += bytes;
  }
  return level;
}

CacheSizes cachesIn(hwloc_topology_t topology, hwloc_const_bitmap_t bound) {
  CacheSizes sizes;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}) {
    const CacheLevel level = cachesOf(topology, bound, type);
    if (level.bytes == 0) continue;
    sizes.shared = level.bytes;
    if (level.coresOfFirst == 1 && type != HWLOC_OBJ_L3CACHE) sizes.core = level.first;
  }
  return sizes;
}

/// The smallest limit of the control group that this process is in and of all around it.
double quotaOfThisProcess() {
  double quota = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::/", 0) != 0) continue;
    std::filesystem::path group = "/sys/fs/cgroup" + line.substr(3);
    for (; group.string().rfind("/sys/fs/cgroup", 0) == 0; group = group.parent_path()) {
      std::ifstream file(group / "cpu.max");
      std::string limit;
      if (std::getline(file, limit)) quota = std::min(quota, quotaOf(limit).value_or(quota));
    }
  }
  return quota;
}

}  // namespace

std::optional<double> quotaOf(std::string_view cpuMax) {
  const std::size_t blank = cpuMax.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  double quota = 0.0;
  double period = 0.0;
  const auto read = [](std::string_view text, double& into) {
    return std::from_chars(text.data(), text.data() + text.size(), into).ec == std::errc{};
  };
  if (!read(cpuMax.substr(0, blank), quota) || !read(cpuMax.substr(blank + 1), period)) return std::nullopt;
  return quota > 0.0 && period > 0.0 ? std::optional(quota / period) : std::nullopt;
}

AllowedCores allowedCores() {
  const Topology topology = loadTopology();
  const Bitmap bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  const std::vector<int> cores = coresIn(topology.get(), bound.get());
  return {cores, quotaOfThisProcess(), plausible(cachesIn(topology.get(), bound.get()), std::ssize(cores))};
}

CacheSizes plausible(CacheSizes reported, std::int64_t cores) {
  constexpr std::int64_t kMostOfCore = std::int64_t{8} << 20;
  constexpr std::int64_t kMostSharedOfCore = std::int64_t{16} << 20;
  return {std::min(reported.core, kMostOfCore),
          std::min(reported.shared, kMostSharedOfCore * std::max<std::int64_t>(cores, 1))};
}

std::string asText(std::span<const int> cores) {
  std::string text;
  for (std::size_t n = 0; n < cores.size();) {
    std::size_t end = n + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(cores[n]);
    if (end > n + 1) text += "-" + std::to_string(cores[end - 1]);
    n = end;
  }
  return text;
}

WorkerPlan planWorkers(const AllowedCores& allowed, int position, int sharers, int threads, bool bind) {
  const auto cores = static_cast<int>(std::max<std::size_t>(allowed.cores.size(), 1));
  const int worth = allowed.quota < cores ? std::max(1, static_cast<int>(allowed.quota)) : cores;
  WorkerPlan plan;
  plan.threads = threads > 0 ? threads : std::max(1, worth / std::max(1, sharers));
  plan.caches = {allowed.caches.core, allowed.caches.shared / std::max(1, sharers)};
  const bool fits = worth == cores && plan.threads * sharers == static_cast<int>(allowed.cores.size());
  if (bind && fits) {
    const auto first = allowed.cores.begin() + std::ptrdiff_t{position} * plan.threads;
    plan.cores.assign(first, first + plan.threads);
  }
  return plan;
}

}  // namespace tessera
