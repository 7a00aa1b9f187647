#pragma once

#include "components/stencils/face_coefficients.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The conductivity of the face between a cell and a neighbour of it.
template <class Conductivity>
struct FaceConductivity {
  Conductivity k;

  TESSERA_KERNEL double operator()(Index cell, Index neighbour) const {
    return throughFace(k(cell), k(neighbour));
  }
};

}  // namespace tessera
