#pragma once

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The conductivity of a face: the harmonic mean of its two cells, that of two resistances in series. Beyond
/// the domain k is extrapolated through its value on the face and can come out negative where k varies too
/// much for the mesh: the cell's own k then counts.
template <class Conductivity>
struct FaceConductivity {
  Conductivity k;

  TESSERA_KERNEL double operator()(Index cell, Index neighbour) const {
    const double a = k(cell);
    const double b = k(neighbour);
    return b > 0.0 ? 2.0 * (a * b) / (a + b) : a;
  }
};

}  // namespace tessera
