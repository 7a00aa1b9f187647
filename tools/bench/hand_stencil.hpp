#pragma once

#include <cstdint>
#include <vector>

namespace tessera::bench {

/// What a person writes who needs no runtime: FTCS heat conduction on whole arrays, periodic, with one halo
/// layer that each step refreshes. The same arithmetic as components/heat, cell by cell.
class HandStencil {
 public:
  HandStencil(std::int64_t n, int threads);

  /// One step on all cells; `threads` slabs along z at once.
  void step(double dt);

 private:
  void fillHalo();
  void advance(std::int64_t firstK, std::int64_t lastK, double dt);
  std::size_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>(((k + 1) * (n_ + 2) + (j + 1)) * (n_ + 2) + (i + 1));
  }

  std::int64_t n_;
  int threads_;
  std::vector<double> old_;
  std::vector<double> new_;
};

}  // namespace tessera::bench
