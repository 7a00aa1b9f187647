#pragma once

#include <vector>

#include "components/component.hpp"
#include "components/rmcrt/boxes/ray_box.hpp"

namespace tessera {

/// Declares `[[rmcrt.box]]`.
void declareBoxTables(ParameterTable& table);

/// The boxes of a deck, made larger to whole cells of level 0, with a variable and a reduction each; of
/// `rays` where one does not say how many. Throws DeckError where a box has nothing of the domain in it.
std::vector<RayBox> boxesOf(const ParameterValues& values, std::uint32_t rays, ComponentSetup& setup);

}  // namespace tessera
