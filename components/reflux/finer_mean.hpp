#pragma once

#include <cstdint>

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The mean of the finer values over a coarse index, 1, 2, 4 or 8 along each axis: of all cells in a coarse
/// one, or of the faces in a coarse face, one across. The first is added to the last, and so on inwards, so
/// that the mirror image of the values has the same mean.
template <class Field>
struct FinerMean {
  Field fine;
  Extent ratio;
  Extent count;  ///< along each axis, the ratio or 1
  double part;   ///< of one of them

  TESSERA_KERNEL double operator()(Index coarse) const {
    const Index x{coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
    if (count.k == 1) return part * plane(x);
    double sum = plane(x) + plane(x + (count.k - 1) * ez);
    for (std::int64_t n = 1; n < count.k - n; ++n)
      sum += plane(x + n * ez) + plane(x + (count.k - 1 - n) * ez);
    return part * sum;
  }

 private:
  TESSERA_KERNEL double plane(Index x) const {
    if (count.j == 1) return row(x);
    double sum = row(x) + row(x + (count.j - 1) * ey);
    for (std::int64_t n = 1; n < count.j - n; ++n) sum += row(x + n * ey) + row(x + (count.j - 1 - n) * ey);
    return sum;
  }
  TESSERA_KERNEL double row(Index x) const {
    if (count.i == 1) return fine(x);
    double sum = fine(x) + fine(x + (count.i - 1) * ex);
    for (std::int64_t n = 1; n < count.i - n; ++n) sum += fine(x + n * ex) + fine(x + (count.i - 1 - n) * ex);
    return sum;
  }
};

}  // namespace tessera
