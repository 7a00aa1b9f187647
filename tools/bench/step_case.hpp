#pragma once

#include <cstdint>
#include <string>

namespace tessera::bench {

/// A deck to measure: a cube of n^3 cells, periodic, in cubes of patches.
struct StepCase {
  std::string physics;  ///< heat, advection, euler
  std::int64_t cells = 64;
  std::int64_t patch = 0;  ///< 0: one patch

  double million() const { return 1e-6 * static_cast<double>(cells * cells * cells); }
  std::string deck() const;
};

}  // namespace tessera::bench
