#include "core/memory/grown_heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tessera {
namespace {

constexpr std::int64_t kLargePage = std::int64_t{2} << 20;
constexpr std::int64_t kLeast = std::int64_t{4} << 20;
constexpr std::int64_t kMost = std::int64_t{1} << 30;
constexpr int kMappedAlone =
    32 << 20;  ///< the most that malloc may be told: larger blocks get pages of their own
constexpr int kUsualPad = 128 << 10;

bool isLimited() {
  for (const auto which : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

}  // namespace

void growHeap(std::int64_t bytes) {
  if (bytes < kLeast || isLimited()) return;
  const std::int64_t grown = (std::min(bytes, kMost) + kLargePage - 1) / kLargePage * kLargePage;
  mallopt(M_MMAP_THRESHOLD, kMappedAlone);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(grown + (std::int64_t{64} << 20)));
  mallopt(M_TOP_PAD, static_cast<int>(grown));
  // More than is left of the heap, so that it grows; given back at once, it is its end from then on.
  void* volatile seen =
      std::malloc(static_cast<std::size_t>(kLargePage));  // a pair that nobody sees is left out
  std::free(seen);
  mallopt(M_TOP_PAD, kUsualPad);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / page * page;
  madvise(reinterpret_cast<void*>(end - static_cast<std::uintptr_t>(grown)), static_cast<std::size_t>(grown),
          MADV_HUGEPAGE);  // without it pages are small
}

}  // namespace tessera
