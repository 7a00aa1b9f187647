#pragma once

#include <cstddef>

#include "datawarehouse/field.hpp"
#include "grid/label.hpp"
#include "grid/level.hpp"

namespace tessera {

/// Fills `region`, all of it beyond `side` of the domain, from the interior of the same memory and the
/// condition that `info` gives for the side, at `time`. Needs the mirrored interior to be in memory (the
/// graph compiler sees to it). The value of a Dirichlet condition holds on the face: cell halo m layers out
/// is 2 v - u(m layers in), which is second order. The same bits for the same index on any patch.
void fillBoundary(std::byte* data, const Layout& layout, const LabelInfo& info, const Level& level, int side,
                  const Box& region, double time);

}  // namespace tessera
