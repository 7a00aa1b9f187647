#include "scheduler/device/backend/pinned_host.hpp"

#include <algorithm>
#include <unistd.h>

namespace tessera {
namespace {

struct Pages {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The pages of all pieces, ascending; those that touch are one.
std::vector<Pages> pagesAround(std::span<const std::span<std::byte>> pieces) {
  const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::vector<Pages> all;
  for (const std::span<std::byte> piece : pieces) {
    if (piece.empty()) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.data());
    all.push_back({begin / size * size, (begin + piece.size() + size - 1) / size * size});
  }
  std::sort(all.begin(), all.end(), [](const Pages& a, const Pages& b) { return a.begin < b.begin; });
  std::vector<Pages> joined;
  for (const Pages& pages : all) {
    if (!joined.empty() && pages.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, pages.end);
    } else {
      joined.push_back(pages);
    }
  }
  return joined;
}

}  // namespace

PinnedHost::PinnedHost(DeviceBackend& device, std::span<const std::span<std::byte>> pieces)
    : device_(device) {
  try {
    for (const Pages& pages : pagesAround(pieces)) {
      auto* memory = reinterpret_cast<void*>(pages.begin);  // NOLINT: a whole page has no pointer of its own
      const auto bytes = static_cast<std::int64_t>(pages.end - pages.begin);
      device_.pin(memory, bytes);
      pinned_.push_back(memory);
      bytes_ += bytes;
    }
  } catch (...) {
    unpinAll();
    throw;
  }
}

PinnedHost::~PinnedHost() { unpinAll(); }

void PinnedHost::unpinAll() noexcept {
  for (void* memory : pinned_) device_.unpin(memory);
}

}  // namespace tessera
