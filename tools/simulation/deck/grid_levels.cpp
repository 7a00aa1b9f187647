#include "tools/simulation/deck/grid_levels.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "grid/refine.hpp"
#include "tools/simulation/deck/core_schema.hpp"

namespace tessera {
namespace {

constexpr double kMostCellsAnAxis = 0x1p40;  ///< that a checkpoint can count

/// One entry of the deck with the place that it takes among the levels.
struct LevelEntry {
  const ParameterValues* values = nullptr;
  std::size_t level = 0;  ///< position in the list of refined levels
  std::size_t box = 0;    ///< position among the boxes of its level
};

std::int64_t numberOf(const ParameterValues& entry, std::int64_t before) {
  return entry.has("level") ? entry.integer("level") : before + 1;
}

/// The entries in the order of the deck. They have passed `checkNumbers`.
std::vector<LevelEntry> entriesOf(const ParameterValues& grid) {
  std::vector<LevelEntry> entries;
  std::vector<std::size_t> boxes;
  std::int64_t number = 0;
  for (const ParameterValues& entry : grid.tables("level")) {
    number = numberOf(entry, number);
    const auto level = static_cast<std::size_t>(number - 1);
    if (level == boxes.size()) boxes.push_back(0);
    entries.push_back({&entry, level, boxes[level]++});
  }
  return entries;
}

/// Position along an axis in cells of width `h`, on the border of a cell where it is as good as there.
double inCells(double at, double lower, double h) {
  const double cells = (at - lower) / h;
  const double nearest = std::round(cells);
  return std::abs(cells - nearest) <= 1e-6 ? nearest : cells;
}

Box snapped(const ParameterValues& entry, const Geometry& geometry, Extent coarserCells) {
  const Real3 lower = entry.vector3("lower");
  const Real3 upper = entry.vector3("upper");
  Box box{{}, coarserCells};
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry.active(d)) continue;
    const double h = (geometry.upper[d] - geometry.lower[d]) / static_cast<double>(coarserCells[d]);
    box.lo[d] = static_cast<std::int64_t>(std::floor(inCells(lower[d], geometry.lower[d], h)));
    box.hi[d] = static_cast<std::int64_t>(std::ceil(inCells(upper[d], geometry.lower[d], h)));
  }
  return box;
}

/// Ratio and patch size of a level are those of its first entry.
std::vector<RefinedLevel> levelsOf(const std::vector<LevelEntry>& entries, const Geometry& geometry) {
  std::vector<RefinedLevel> levels;
  std::vector<Extent> cells{geometry.cells};  // of the domain, by level
  for (const LevelEntry& entry : entries) {
    if (entry.level == levels.size()) {
      RefinedLevel level;
      if (entry.values->has("ratio")) level.ratio = entry.values->integer("ratio");
      level.patchSize =
          entry.values->has("patch_size") ? entry.values->integers3("patch_size") : usualPatchSize(geometry);
      levels.push_back(std::move(level));
      cells.push_back(refine(Box{{}, cells.back()}, ratioAlongAxes(geometry, levels.back().ratio)).extent());
    }
    levels[entry.level].boxes.push_back(snapped(*entry.values, geometry, cells[entry.level]));
  }
  return levels;
}

bool checkNumbers(const ParameterValues& grid, DeckDiagnostics& findings) {
  std::int64_t number = 0;
  std::int64_t highest = 0;
  for (const ParameterValues& entry : grid.tables("level")) {
    number = numberOf(entry, number);
    if (number > highest + 1) {
      findings.error(entry.where("level"), "there is no level " + std::to_string(number - 1) +
                                               " below level " + std::to_string(number) +
                                               "; write its [[grid.level]] above this one");
      return false;
    }
    highest = std::max(highest, number);
  }
  return true;
}

/// What several entries say of one level has to agree.
void checkAgreement(const std::vector<LevelEntry>& entries, DeckDiagnostics& findings) {
  std::vector<const ParameterValues*> first;
  for (const LevelEntry& entry : entries) {
    if (entry.level == first.size()) first.push_back(entry.values);
    const ParameterValues& leader = *first[entry.level];
    const auto differ = [&](const char* key) {
      findings.error(entry.values->where(key), std::string(key) + " of level " +
                                                   std::to_string(entry.level + 1) +
                                                   " differs from that of its first box; leave it out here");
    };
    if (entry.values->has("ratio") &&
        entry.values->integer("ratio") != (leader.has("ratio") ? leader.integer("ratio") : 2)) {
      differ("ratio");
    }
    if (!entry.values->has("patch_size")) continue;
    if (!leader.has("patch_size") ||
        !(entry.values->integers3("patch_size") == leader.integers3("patch_size"))) {
      differ("patch_size");
    }
  }
}

/// Corners outside of the domain, or in the wrong order: found before they become numbers of cells.
bool checkCorners(const std::vector<LevelEntry>& entries, const Geometry& geometry,
                  DeckDiagnostics& findings) {
  bool good = true;
  for (const LevelEntry& entry : entries) {
    const Real3 lower = entry.values->vector3("lower");
    const Real3 upper = entry.values->vector3("upper");
    for (int d = 0; d < kAxes && good; ++d) {
      if (!geometry.active(d)) continue;
      const std::string axis(1, "xyz"[d]);
      const double slack = 1e-9 * (geometry.upper[d] - geometry.lower[d]);
      if (upper[d] <= lower[d]) {
        findings.error(entry.values->where("upper"),
                       "upper of a [[grid.level]] has to be above lower on each axis, but is not on " + axis);
        good = false;
      } else if (lower[d] < geometry.lower[d] - slack || upper[d] > geometry.upper[d] + slack) {
        const bool low = lower[d] < geometry.lower[d] - slack;
        findings.error(entry.values->where(low ? "lower" : "upper"),
                       "a box of [[grid.level]] leaves the domain along " + axis +
                           "; keep it between grid.lower and grid.upper");
        good = false;
      }
    }
  }
  return good;
}

/// Level by level the number of cells that a whole level would have, and of patches that there are.
bool checkSize(const std::vector<LevelEntry>& entries, const Geometry& geometry, DeckDiagnostics& findings) {
  double cells = 1.0;
  double longest = 1.0;
  for (int d = 0; d < kAxes; ++d) {
    cells *= static_cast<double>(geometry.cells[d]);
    longest = std::max(longest, static_cast<double>(geometry.cells[d]));
  }
  std::size_t levels = 0;
  for (const LevelEntry& entry : entries) {
    if (entry.level < levels) continue;
    levels = entry.level + 1;
    const double ratio =
        entry.values->has("ratio") ? static_cast<double>(entry.values->integer("ratio")) : 2.0;
    cells *= std::pow(ratio, geometry.activeAxes());
    longest *= ratio;
    if (cells < 0x1p62 && longest < kMostCellsAnAxis) continue;
    findings.error(
        entry.values->tableWhere(),
        "level " + std::to_string(levels) + " is so fine that the whole grid would have more than " +
            (cells < 0x1p62 ? "2^40 cells along an axis, which no checkpoint can hold" : "2^62 cells") +
            "; use fewer levels");
    return false;
  }
  return true;
}

/// Halos beyond a level are interpolated from cells of the half or the quarter size alone.
void checkRatios(const std::vector<LevelEntry>& entries, const std::vector<RefinedLevel>& levels,
                 const Geometry& geometry, DeckDiagnostics& findings) {
  Extent cells = geometry.cells;
  std::size_t checked = 0;
  for (const LevelEntry& entry : entries) {
    if (entry.level < checked) continue;
    checked = entry.level + 1;
    const RefinedLevel& level = levels[entry.level];
    std::int64_t covered = 0;
    for (const Box& box : level.boxes) covered += box.volume();
    if (level.ratio == 8 && covered != Box{{}, cells}.volume()) {
      findings.error(entry.values->where("ratio"),
                     "a ratio of 8 is for levels that cover the domain, and level " +
                         std::to_string(entry.level + 1) +
                         " does not; give 2 or 4, or a box from grid.lower "
                         "to grid.upper");
    }
    cells = refine(Box{{}, cells}, ratioAlongAxes(geometry, level.ratio)).extent();
  }
}

void checkPatches(const std::vector<LevelEntry>& entries, const std::vector<RefinedLevel>& levels,
                  const Geometry& geometry, DeckDiagnostics& findings) {
  double patches = 0.0;
  double cellsInAll = 0.0;
  for (const LevelEntry& entry : entries) {
    const RefinedLevel& level = levels[entry.level];
    const Extent cells = refine(level.boxes[entry.box], ratioAlongAxes(geometry, level.ratio)).extent();
    double pieces = 1.0;
    double size = 1.0;
    for (int d = 0; d < kAxes; ++d) {
      pieces *= std::ceil(static_cast<double>(cells[d]) / static_cast<double>(level.patchSize[d]));
      size *= static_cast<double>(cells[d]);
    }
    patches += pieces;
    cellsInAll += size;
    if (cellsInAll >= kMaxCells) {
      findings.error(entry.values->tableWhere(), "the refined levels would have more than 2^50 cells");
      return;
    }
    if (patches <= static_cast<double>(kMaxPatches)) continue;
    findings.error(entry.values->tableWhere(), "the refined levels would have more than " +
                                                   std::to_string(kMaxPatches) +
                                                   " patches; make patch_size larger");
    return;
  }
}

void checkLevels(const ParameterValues& grid, DeckDiagnostics& findings) {
  const Geometry geometry = geometryOf(grid);
  for (int d = 0; d < kAxes; ++d) {
    if (!(geometry.upper[d] > geometry.lower[d])) return;  // has its own finding
  }
  if (!checkNumbers(grid, findings)) return;
  const std::vector<LevelEntry> entries = entriesOf(grid);
  checkAgreement(entries, findings);
  if (!checkSize(entries, geometry, findings) || !checkCorners(entries, geometry, findings)) return;
  const std::vector<RefinedLevel> levels = levelsOf(entries, geometry);
  checkRatios(entries, levels, geometry, findings);
  for (const BoxFault& fault : findBoxFaults(geometry, levels, Nesting::WithRing)) {
    if (findings.isFull()) break;
    findings.error(whereOfBox(grid, fault.level, fault.box),
                   "the box of level " + std::to_string(fault.level + 1) + ", cells " +
                       asText(levels[fault.level].boxes[fault.box]) + " of level " +
                       std::to_string(fault.level) + ", " + fault.why + "; " + fault.fix);
  }
  checkPatches(entries, levels, geometry, findings);
}

}  // namespace

void declareGridLevels(ParameterTable& grid) {
  ParameterTable& level = grid.arrayOf(
      "level", "A box with smaller cells, of a level above those of [grid]; one entry for each box");
  level.integer("level")
      .doc("number of the level that gets the box; not given: the one after the entry before, first 1")
      .range(1, 60)
      .optional();
  level.integer("ratio")
      .doc(
          "cells along each resolved axis of a cell of the next coarser level: 2 or 4, or 8 where the level "
          "covers the domain; not given: 2, or that of the level's first box")
      .range(2, 8)
      .optional();
  level.realVector("lower", 3)
      .doc("position of the box's lower corner; snapped outward to cells of the next coarser level")
      .required();
  level.realVector("upper", 3).doc("position of the box's upper corner, snapped in the same way").required();
  level.integerVector("patch_size", 3)
      .doc(
          "cells of a patch along x, y and z, of this level; not given: that of the level's first box, or "
          "the default of grid.patch_size")
      .atLeast(1)
      .optional();
  level.check([](const ParameterValues& entry, DeckDiagnostics& findings) {
    if (!entry.has("ratio")) return;
    const std::int64_t ratio = entry.integer("ratio");
    if (ratio != 2 && ratio != 4 && ratio != 8) {
      findings.error(entry.where("ratio"),
                     "a ratio of " + std::to_string(ratio) +
                         " is not possible; give 2 or 4, or 8 for a level that covers the domain");
    }
  });
  grid.check(checkLevels);
}

Geometry geometryOf(const ParameterValues& grid) {
  Geometry geometry;
  geometry.lower = grid.vector3("lower");
  geometry.upper = grid.vector3("upper");
  geometry.cells = grid.integers3("cells");
  geometry.periodic = grid.booleans3("periodic");
  return geometry;
}

double refinementOfLevels(const ParameterValues& grid) {
  double refinement = 1.0;
  std::int64_t number = 0;
  std::int64_t highest = 0;
  for (const ParameterValues& entry : grid.tables("level")) {
    number = numberOf(entry, number);
    if (number <= highest) continue;
    highest = number;
    refinement *= entry.has("ratio") ? static_cast<double>(entry.integer("ratio")) : 2.0;
  }
  return refinement;
}

Extent usualPatchSize(const Geometry& geometry) {
  static constexpr std::int64_t kEdge[] = {1, 256, 64, 32};
  Extent size;
  for (int axis = 0; axis < kAxes; ++axis)
    size[axis] = geometry.active(axis) ? kEdge[geometry.activeAxes()] : 1;
  return size;
}

std::vector<RefinedLevel> refinedLevelsOf(const ParameterValues& grid) {
  return levelsOf(entriesOf(grid), geometryOf(grid));
}

DeckLocation whereOfBox(const ParameterValues& grid, std::size_t level, std::size_t box) {
  for (const LevelEntry& entry : entriesOf(grid)) {
    if (entry.level == level && entry.box == box) return entry.values->where("lower");
  }
  return grid.tableWhere();
}

}  // namespace tessera
