#pragma once

#include "components/lowmach/face_fields.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The divergence of what stands on the faces of a cell.
template <class Field>
struct Divergence {
  Field u[kAxes];
  Index e[kAxes];
  double inverse[kAxes];

  TESSERA_KERNEL double operator()(Index x) const { return along(0, x) + (along(1, x) + along(2, x)); }

 private:
  TESSERA_KERNEL double along(int d, Index x) const { return inverse[d] * (u[d](x + e[d]) - u[d](x)); }
};

/// That of faces of one generation. An axis of one cell counts nothing; another one stands in for it.
template <class Task>
auto divergenceOf(const Task& task, const FlowParams& params, Generation generation, const FlowFaces& faces) {
  const auto standIn = readFaces(task, generation, faces, params.firstAxis());
  Divergence<std::remove_cvref_t<decltype(standIn)>> divergence{{standIn, standIn, standIn}, {}, {}};
  for (int d = 0; d < kAxes; ++d) {
    if (!params.active[static_cast<std::size_t>(d)]) continue;
    divergence.u[d] = readFaces(task, generation, faces, d);
  }
  setAxes(task, params, divergence.e, divergence.inverse);
  return divergence;
}

}  // namespace tessera
