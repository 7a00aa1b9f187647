#pragma once

#include <type_traits>

#include "components/euler/ideal_gas.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"
#include "grid/generation.hpp"

namespace tessera {

/// The states of the four cells around a face: two below it and two above.
struct FourCells {
  Primitive w0, w1, w2, w3;
};

/// Every cell holds gas.
struct GasEverywhere {
  TESSERA_KERNEL static bool isGas(Index) { return true; }
  /// What a face sees of its four cells; `x` is the upper one beside it.
  TESSERA_KERNEL static FourCells seen(const FourCells& cells, Index /*x*/, Index /*e*/) { return cells; }
};

/// Cells where a field is not 0 are solid: gas sees its own mirror image in them, as at a wall.
template <class Field>
struct GasBetweenSolids {
  Field solid;

  TESSERA_KERNEL bool isGas(Index x) const { return solid(x) == 0.0; }
  TESSERA_KERNEL FourCells seen(const FourCells& c, Index x, Index e) const {
    const bool s1 = !isGas(x - e);
    const bool s2 = !isGas(x);
    const bool wallAbove = s2 && !s1;
    const bool wallBelow = s1 && !s2;
    const Primitive w0 = chosen(!isGas(x - e - e), mirrored(c.w1), c.w0);
    const Primitive w3 = chosen(!isGas(x + e), mirrored(c.w2), c.w3);
    return {chosen(wallBelow, mirrored(w3), w0), chosen(wallBelow, mirrored(c.w2), c.w1),
            chosen(wallAbove, mirrored(c.w1), c.w2), chosen(wallAbove, mirrored(w0), w3)};
  }

 private:
  TESSERA_KERNEL static Primitive mirrored(Primitive w) {
    w.v[kNormal] = -w.v[kNormal];
    return w;
  }
  TESSERA_KERNEL static Primitive chosen(bool first, const Primitive& a, const Primitive& b) {
    Primitive w;
    for (int n = 0; n < kGasNumbers; ++n) w.v[n] = first ? a.v[n] : b.v[n];
    return w;
  }
};

/// Calls `body(cells)` with what a task knows of solid cells.
template <class Task, class Params, class Body>
void withSolids(const Task& task, const Params& params, Generation generation, Body&& body) {
  if (!params.hasSolids) return body(GasEverywhere{});
  const auto solid = task.read(generation, params.solid);
  body(GasBetweenSolids<std::remove_cvref_t<decltype(solid)>>{solid});
}

}  // namespace tessera
