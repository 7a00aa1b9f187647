#include "components/euler/cell_codes.hpp"

#include "grid/patch.hpp"

namespace tessera {

CellCodes::CellCodes(const Hierarchy& hierarchy, const Level& level)
    : low_(level.domain().lo), cells_(level.domain().extent()) {
  for (LevelId l = 0; l < level.number(); ++l)
    before_ += static_cast<double>(hierarchy.level(l).domain().volume());
}

std::string cellOfCode(const Hierarchy& hierarchy, double code) {
  auto place = static_cast<std::int64_t>(code);
  LevelId number = 0;
  while (place >= hierarchy.level(number).domain().volume())
    place -= hierarchy.level(number++).domain().volume();
  const Level& level = hierarchy.level(number);
  const Extent n = level.domain().extent();
  const Index cell = level.domain().lo + Index{place % n.i, place / n.i % n.j, place / (n.i * n.j)};
  std::string text = "cell " + asText(cell) + " of level " + std::to_string(number);
  level.forEachOverlapping({cell, cell + Index{1, 1, 1}},
                           [&](const Patch& patch) { text += ", patch " + asText(patch); });
  return text;
}

}  // namespace tessera
