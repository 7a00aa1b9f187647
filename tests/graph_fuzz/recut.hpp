#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "grid/hierarchy.hpp"
#include "grid/rank_map.hpp"

namespace tessera::fuzz {

/// The mesh as a regrid may leave it: some patches split, some joined, on the finest level some gone, ids
/// sometimes in another order. Levels and domain are the same. Where `window` is given, nothing changes but
/// the patches that lie inside these cells of their own level, and ids behind them.
std::shared_ptr<const Hierarchy> recut(const Hierarchy& mesh, std::uint64_t seed,
                                       const std::optional<Box>& window = std::nullopt);

/// Owners that follow from the boxes, so that a patch that stays keeps its rank; one patch in eight has
/// another one in each `epoch`.
RankMap ownersByPlace(const Hierarchy& mesh, int ranks, std::uint64_t seed, std::uint64_t epoch);

}  // namespace tessera::fuzz
