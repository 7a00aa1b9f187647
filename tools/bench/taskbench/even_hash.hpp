#pragma once

#include <cstdint>

namespace tessera::bench {

/// A number in [0, 1) that four numbers decide, evenly distributed: the same on every machine and from every
/// thread.
inline double evenHash(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  std::uint64_t h = 0;
  for (const std::uint64_t word : {a, b, c, d}) {
    h += word + 0x9e3779b97f4a7c15U;  // the steps of SplitMix64
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
    h ^= h >> 31;
  }
  return static_cast<double>(h >> 11) * 0x1.0p-53;
}

}  // namespace tessera::bench
