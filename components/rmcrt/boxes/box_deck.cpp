#include "components/rmcrt/boxes/box_deck.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "components/deck_names.hpp"

namespace tessera {
namespace {

constexpr std::size_t kMostBoxes = 64;

/// The cells of level 0 that a box has a part of; a border that is a face but for rounding is that face.
Box cellsWithin(const Geometry& geometry, const Real3& lower, const Real3& upper) {
  constexpr double kRounding = 1e-6;
  Box cells;
  for (int d = 0; d < kAxes; ++d) {
    const std::int64_t count = geometry.cells[d];
    const auto cellsTo = [&](double place) {
      return (place - geometry.lower[d]) / (geometry.upper[d] - geometry.lower[d]) *
             static_cast<double>(count);
    };
    const double first = std::clamp(std::floor(cellsTo(lower[d]) + kRounding), 0.0, double(count));
    const double end = std::clamp(std::ceil(cellsTo(upper[d]) - kRounding), 0.0, double(count));
    cells.lo[d] = geometry.active(d) ? static_cast<std::int64_t>(first) : 0;
    cells.hi[d] = geometry.active(d) ? static_cast<std::int64_t>(end) : count;
  }
  return cells;
}

}  // namespace

void declareBoxTables(ParameterTable& table) {
  ParameterTable& entry =
      table.arrayOf("box", "a part of the domain whose net power is wanted that leaves it");
  entry.text("name").doc("its column of the history is rmcrt.box_NAME").required();
  entry.realVector("lower", 3).doc("its lower corner").unit("length").required();
  entry.realVector("upper", 3).doc("its upper corner").unit("length").required();
  entry.integer("rays")
      .doc(
          "rays from each face of a cell on its sides, to either side; what wall_rays says where it is not "
          "given")
      .range(1, 1 << 30)
      .optional();
  table.check([](const ParameterValues& values, DeckDiagnostics& findings) {
    checkNames(values.tables("box"), {"box", "boxes", kMostBoxes}, findings);
  });
}

std::vector<RayBox> boxesOf(const ParameterValues& values, std::uint32_t rays, ComponentSetup& setup) {
  DeckDiagnostics findings;
  std::vector<RayBox> boxes;
  for (const ParameterValues& entry : values.tables("box")) {
    RayBox box;
    box.name = entry.text("name");
    box.cells = cellsWithin(setup.geometry, entry.vector3("lower"), entry.vector3("upper"));
    if (box.cells.empty())
      findings.error(entry.where("lower"),
                     "the box \"" + box.name +
                         "\" has nothing of the domain in it; give a lower corner below "
                         "its upper one, with a part of the domain between");
    box.rays = entry.has("rays") ? static_cast<std::uint32_t>(entry.integer("rays")) : rays;
    if (box.rays == 0)
      findings.error(
          entry.where("name"),
          "the box \"" + box.name + "\" has no rays, since wall_rays is 0; give it rays of its own");
    box.power = setup.labels.variable<double, Cell>("rmcrt.power_" + box.name, "power");
    box.total = setup.labels.reduction("rmcrt.box_" + box.name);
    boxes.push_back(box);
  }
  findings.throwIfErrors();
  return boxes;
}

}  // namespace tessera
