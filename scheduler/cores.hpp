#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Bytes of data caches; 0 where the machine does not tell.
struct CacheSizes {
  std::int64_t core = 0;    ///< the largest that a core has to itself
  std::int64_t shared = 0;  ///< all of the last level, of the cores that are allowed
};

/// What the launcher and the machine let this process use.
struct AllowedCores {
  /// Numbers of the operating system, ascending: of each core the first hardware thread that is allowed.
  std::vector<int> cores;
  /// How many cores' worth of time the control group may use.
  double quota = std::numeric_limits<double>::infinity();
  CacheSizes caches{};
};

/// Of the calling thread, at the time of the call.
AllowedCores allowedCores();

/// "200000 100000" (cpu.max of a control group) is 2 cores' worth; "max ..." and anything else is no limit.
std::optional<double> quotaOf(std::string_view cpuMax);

/// No more than any processor has for so many cores: virtual machines report the caches of their whole host,
/// or what they like.
CacheSizes plausible(CacheSizes reported, std::int64_t cores);

/// "0-3,6"
std::string asText(std::span<const int> cores);

/// How many workers a rank starts, and where.
struct WorkerPlan {
  int threads = 1;
  std::vector<int> cores;  ///< one a worker; empty: the operating system decides
  CacheSizes caches{};     ///< the rank's part of the shared ones
};

/// For rank number `position` of `sharers` ranks that may all use the same cores. `threads` 0: an equal part
/// of the cores for each. Workers are bound to cores of their own only where the ranks together have a worker
/// for every core: then nobody else is expected there.
WorkerPlan planWorkers(const AllowedCores& allowed, int position, int sharers, int threads, bool bind);

}  // namespace tessera
