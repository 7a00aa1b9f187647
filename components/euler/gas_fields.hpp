#pragma once

#include <type_traits>

#include "components/euler/euler_kernels.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The fields of a conserved variable as seen from faces of one axis.
template <class Field>
struct GasFields {
  Field rho, normal, first, second, energy;

  TESSERA_KERNEL Conserved operator()(Index x) const {
    return {{rho(x), normal(x), first(x), second(x), energy(x)}};
  }
  TESSERA_KERNEL void set(Index x, const Conserved& c) const {
    rho(x) = c.v[0];
    normal(x) = c.v[1];
    first(x) = c.v[2];
    second(x) = c.v[3];
    energy(x) = c.v[4];
  }
};

/// `view`: all components, of a task.
template <class View>
auto gasFields(const View& view, int axis) {
  const std::int32_t first = axis == 0 ? 1 : 0;
  const std::int32_t second = axis == 2 ? 1 : 2;
  using Field = std::remove_cvref_t<decltype(view[0])>;
  return GasFields<Field>{view[kMassComponent], view[kMomentumComponent + axis],
                          view[kMomentumComponent + first], view[kMomentumComponent + second],
                          view[kEnergyComponent]};
}

}  // namespace tessera
