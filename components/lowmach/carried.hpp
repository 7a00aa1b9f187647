#pragma once

#include "components/lowmach/face_fields.hpp"
#include "components/lowmach/momentum.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// What changes something carried in a cell, q: by the mass that flows through its faces and by diffusion.
/// Of an axis of one cell `e` leads nowhere and `inverse` is 0.
template <class Field, class Between>
struct CarriedRate {
  Field q;
  Field mass[kAxes];
  Index e[kAxes];
  double inverse[kAxes];
  double diffusivity;  ///< times density

  /// div(m q) less q div(m): 0 where q is the same around.
  TESSERA_KERNEL double convection(Index x) const { return carried(0, x) + (carried(1, x) + carried(2, x)); }
  TESSERA_KERNEL double diffusion(Index x) const {
    return diffusivity * (spread(0, x) + (spread(1, x) + spread(2, x)));
  }

 private:
  /// Through the face below y.
  TESSERA_KERNEL double through(int d, Index y, Index x) const {
    const double m = mass[d](y);
    return m * (Between::at(q, y - e[d], e[d], m) - q(x));
  }
  TESSERA_KERNEL double carried(int d, Index x) const {
    return inverse[d] * (through(d, x + e[d], x) - through(d, x, x));
  }
  TESSERA_KERNEL double spread(int d, Index x) const {
    return inverse[d] * inverse[d] * ((q(x + e[d]) - q(x)) - (q(x) - q(x - e[d])));
  }
};

/// The mean of the differences to both sides: no limit on slopes.
using UnlimitedBetween = UpwindBetween<CentralSlope>;
using LimitedBetween = UpwindBetween<VanLeerSlope>;

/// What is carried at cells; 0, or the value given, where it is not there.
template <class Task, class Field>
NumberOrField<Field> carriedOrNone(const Task& task, Generation generation, const CarriedLabels& labels,
                                   const Field& standIn) {
  if (!labels.isThere()) return {standIn, 0.0, 0.0};
  return {task.read(generation, labels.value), 0.0, 1.0};
}

}  // namespace tessera
