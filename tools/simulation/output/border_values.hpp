#pragma once

#include <cstdint>
#include <span>

#include "core/geometry/box.hpp"

namespace tessera {

/// What a field file holds of a patch (`values` over `valueBox`) from what the patch stores (`stored` over
/// its closed box), `components` numbers an index. They differ along an axis of one cell, which is stored
/// without its upper border: there both borders have the same value.
void spreadToValueBox(const Box& closed, std::span<const double> stored, const Box& valueBox,
                      std::span<double> values, std::int64_t components);

}  // namespace tessera
