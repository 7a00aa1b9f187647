#pragma once

#include <array>

#include "grid/label.hpp"

namespace tessera {

/// Quantities that the component has at most: bodies carry what they need of each.
inline constexpr int kMostQuantities = 16;

/// D by quantity.
using Diffusivities = std::array<double, kMostQuantities>;

/// The integral of each quantity, by quantity.
using DiffusionTotals = std::array<ReductionLabel, kMostQuantities>;

}  // namespace tessera
