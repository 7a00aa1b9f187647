#pragma once

#include <cstddef>
#include <span>

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

/// The interior index from which a halo index beyond `side` gets its value.
Index mirroredIndex(Index x, const LabelInfo& info, const Level& level, int side);

/// The values of the condition of `side` for the indices of `region`, x fastest, as fillBoundary takes them.
void conditionValues(const LabelInfo& info, const Level& level, int side, const Box& region, double time,
                     std::span<double> values);

}  // namespace tessera
