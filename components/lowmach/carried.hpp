#pragma once

#include <type_traits>

#include "components/lowmach/face_fields.hpp"
#include "components/lowmach/momentum.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Fluxes by diffusion of a fluid with one diffusivity, without solid cells.
template <class Field>
struct PlainSpread {
  double diffusivity;  ///< times density

  /// Through the face below y, over the spacing.
  TESSERA_KERNEL double operator()(const Field& q, int /*d*/, Index y, Index e) const {
    return diffusivity * (q(y) - q(y - e));
  }
};

/// The same with eddies and with solid cells, through whose faces there is no flux, or that to a value which
/// is given there.
template <class Field>
struct GeneralSpread {
  double diffusivity;
  NumberOrField<Field> eddies;  ///< the diffusivity of eddies
  NumberOrField<Field> open[kAxes];
  double ofClosed;  ///< 2 where solid cells have a value, at half the distance; 0 where nothing passes

  TESSERA_KERNEL double operator()(const Field& q, int d, Index y, Index e) const {
    const double part = open[d](y);
    // Eddies are only where fluid is.
    const double gamma = diffusivity + (2.0 - part) * eddies.atFace(y, e);
    return gamma * ((part + (1.0 - part) * ofClosed) * (q(y) - q(y - e)));
  }
};

/// What changes something carried in a cell, q: by the mass that flows through its faces and by diffusion.
/// Of an axis of one cell `e` leads nowhere and `inverse` is 0.
template <class Field, class Between, class Spread>
struct CarriedRate {
  Field q;
  Field mass[kAxes];
  Index e[kAxes];
  double inverse[kAxes];
  Spread spread;

  /// div(m q) less q div(m): 0 where q is the same around.
  TESSERA_KERNEL double convection(Index x) const { return carried(0, x) + (carried(1, x) + carried(2, x)); }
  TESSERA_KERNEL double diffusion(Index x) const { return spreads(0, x) + (spreads(1, x) + spreads(2, x)); }

 private:
  /// Through the face below y.
  TESSERA_KERNEL double through(int d, Index y, Index x) const {
    const double m = mass[d](y);
    return m * (Between::at(q, y - e[d], e[d], m) - q(x));
  }
  TESSERA_KERNEL double carried(int d, Index x) const {
    return inverse[d] * (through(d, x + e[d], x) - through(d, x, x));
  }
  TESSERA_KERNEL double spreads(int d, Index x) const {
    return inverse[d] * inverse[d] * (spread(q, d, x + e[d], e[d]) - spread(q, d, x, e[d]));
  }
};

/// The fluxes by diffusion of what is carried at position `which`. `eddies`: the generation of the viscosity
/// of eddies; `scale`: what the diffusivity is multiplied with.
template <class Spread, class Task, class Field>
Spread spreadOf(const Task& task, const FlowParams& params, std::size_t which, Generation eddies,
                const Field& standIn, double scale) {
  if constexpr (std::is_same_v<Spread, PlainSpread<Field>>) {
    return {params.diffusivity[which] * scale};
  } else {
    const NumberOrField<Field> one{standIn, 1.0, 0.0};
    Spread spread{params.diffusivity[which] * scale,
                  eddiesOf(task, params, eddies, standIn, params.eddies.perSchmidt * scale),
                  {one, one, one},
                  params.solids.areHeld[which] ? 2.0 : 0.0};
    for (int d = 0; d < kAxes; ++d) {
      if (params.active[static_cast<std::size_t>(d)])
        spread.open[d] = openFaces(task, params, Old, d, standIn);
    }
    return spread;
  }
}

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

/// Calls `body` with the state relation that holds.
template <class Task, class Body>
void withState(const Task& task, const FlowParams& params, Body&& body) {
  if (params.state == StateKind::Table) {
    const auto numbers = task.table(params.table);
    return body(TableState<std::remove_cvref_t<decltype(numbers)>>(numbers, params.tableShape));
  }
  if (params.state == StateKind::Flame) return body(params.flame);
  body(params.mixing);
}

}  // namespace tessera
