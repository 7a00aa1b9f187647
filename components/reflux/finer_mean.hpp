#pragma once

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The mean of the finer values over a coarse index, 1, 2 or 4 along each axis: of all cells in a coarse one,
/// or of the faces in a coarse face, one across. The first is added to the last, and what lies between them
/// to itself, so that the mirror image of the values has the same mean.
template <class Field>
struct FinerMean {
  Field fine;
  Extent ratio;
  Extent count;  ///< along each axis, the ratio or 1
  double part;   ///< of one of them

  TESSERA_KERNEL double operator()(Index coarse) const {
    const Index x{coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
    if (count.k == 1) return part * plane(x);
    const double outer = plane(x) + plane(x + (count.k - 1) * ez);
    if (count.k == 2) return part * outer;
    return part * (outer + (plane(x + ez) + plane(x + 2 * ez)));
  }

 private:
  TESSERA_KERNEL double plane(Index x) const {
    if (count.j == 1) return row(x);
    const double outer = row(x) + row(x + (count.j - 1) * ey);
    return count.j == 2 ? outer : outer + (row(x + ey) + row(x + 2 * ey));
  }
  TESSERA_KERNEL double row(Index x) const {
    if (count.i == 1) return fine(x);
    const double outer = fine(x) + fine(x + (count.i - 1) * ex);
    return count.i == 2 ? outer : outer + (fine(x + ex) + fine(x + 2 * ex));
  }
};

}  // namespace tessera
