#include "tools/simulation/regrid/regrid_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "taskgraph/fill_geometry.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/grid_levels.hpp"

namespace tessera {
namespace {

constexpr double kMostCellsOnAxis = 0x1p40;  ///< that a checkpoint can count

/// How many cells of a level a wave crosses from one regrid to the next.
std::int64_t cellsCrossed(const RunSettings& settings, std::size_t level) {
  double cells = static_cast<double>(settings.regrid->interval) * settings.time.cfl;
  for (std::size_t n = 0; n < settings.levels.size(); ++n) {
    const auto ratio = static_cast<double>(settings.levels[n].ratio);
    if (settings.subcycles && n < level) cells *= ratio;
    if (!settings.subcycles && n >= level) cells /= ratio;
  }
  return static_cast<std::int64_t>(std::ceil(std::min(cells, 1e15)));
}

bool looksAtVariables(const RegridSettings& regrid) {
  return std::any_of(regrid.criteria.begin(), regrid.criteria.end(),
                     [](const FlagCriterion& one) { return one.kind != FlagKind::Expression; });
}

/// Level by level the number of cells that a whole level would have, and how near to one another they are.
bool checkFineness(const RunSettings& settings, DeckDiagnostics& findings) {
  const Geometry& geometry = settings.geometry;
  double cells = 1.0;
  for (int d = 0; d < kAxes; ++d) cells *= static_cast<double>(geometry.cells[d]);
  double refinement = 1.0;
  for (std::size_t n = 0; n < settings.levels.size(); ++n) {
    const auto ratio = static_cast<double>(settings.levels[n].ratio);
    refinement *= ratio;
    cells *= std::pow(ratio, geometry.activeAxes());
    bool isTooFine = cells >= 0x1p62;
    for (int d = 0; d < kAxes; ++d) {
      if (!geometry.active(d)) continue;
      const double along = static_cast<double>(geometry.cells[d]) * refinement;
      const double farthest = std::max(std::abs(geometry.lower[d]), std::abs(geometry.upper[d]));
      const double spacing = (geometry.upper[d] - geometry.lower[d]) / along;
      isTooFine = isTooFine || along >= kMostCellsOnAxis ||
                  spacing < 16.0 * std::numeric_limits<double>::epsilon() * farthest;
    }
    if (!isTooFine) continue;
    findings.error(settings.regrid->levelsWhere,
                   "level " + std::to_string(n + 1) +
                       " would be so fine that its cells can neither be counted nor told apart; lower "
                       "amr.max_levels to " +
                       std::to_string(std::max<std::size_t>(n + 1, 2)) + " or less");
    return false;
  }
  return true;
}

void checkBuffer(const RunSettings& settings, DeckDiagnostics& findings) {
  const RegridSettings& regrid = *settings.regrid;
  if (!regrid.buffer || !looksAtVariables(regrid)) return;
  std::int64_t most = 0;
  std::size_t where = 0;
  for (std::size_t level = 0; level < settings.levels.size(); ++level) {
    if (const std::int64_t cells = cellsCrossed(settings, level); cells > most) {
      most = cells;
      where = level;
    }
  }
  if (*regrid.buffer >= most) return;
  findings.error(regrid.bufferWhere, "amr.buffer = " + std::to_string(*regrid.buffer) +
                                         " is too small: in the " + std::to_string(regrid.interval) +
                                         " steps between two regrids a wave crosses " + std::to_string(most) +
                                         " cells of level " + std::to_string(where) +
                                         " and leaves the refined region; give " + std::to_string(most) +
                                         " or more, leave it out, or regrid more often (amr.interval)");
}

/// Cells of the next coarser level that a read around a patch may need.
Extent coarseReach(const ReadDeclaration& read, bool interpolated, Extent ratio) {
  if (read.reach != Reach::Patch && read.reach != Reach::Coarser) return {0, 0, 0};
  Halo below = read.halo;
  if (read.reach == Reach::Patch)
    below = interpolated ? ringHalo(read.halo, ratio) : haloBelow(read.halo, ratio);
  Extent reach;
  for (int d = 0; d < kAxes; ++d) reach[d] = std::max(below.lo[d], below.hi[d]);
  return reach;
}

void widenFor(const TaskDeclaration& task, RegridRules& rules, const LabelTable& labels,
              std::span<const StandIn> standIns) {
  const auto finest = static_cast<LevelId>(rules.levels.size());
  for (LevelId level = 1; level <= finest; ++level) {
    if (!task.levels.contains(level, finest)) continue;
    RefinedLattice& lattice = rules.levels[static_cast<std::size_t>(level) - 1];
    const Extent ratio = ratioAlongAxes(rules.geometry, lattice.ratio);
    for (const ReadDeclaration& read : task.reads) {
      const Extent reach = coarseReach(read, isInterpolated(read, labels, standIns), ratio);
      for (int d = 0; d < kAxes; ++d) lattice.nesting[d] = std::max(lattice.nesting[d], reach[d]);
    }
  }
}

}  // namespace

RegridRules regridRulesOf(const RunSettings& settings) {
  const RegridSettings& regrid = *settings.regrid;
  RegridRules rules;
  rules.geometry = settings.geometry;
  rules.kind = regrid.kind;
  rules.efficiency = regrid.efficiency;
  for (const RefinedLevel& level : settings.levels) {
    RefinedLattice lattice;
    lattice.ratio = level.ratio;
    for (int d = 0; d < kAxes; ++d) lattice.tile[d] = settings.geometry.active(d) ? regrid.tile : 1;
    lattice.longest = regrid.patchSize.value_or(usualPatchSize(settings.geometry));
    rules.levels.push_back(lattice);
  }
  return rules;
}

DeckDiagnostics checkRegrid(const RunSettings& settings) {
  DeckDiagnostics findings;
  const RegridSettings& regrid = *settings.regrid;
  if (static_cast<std::int64_t>(settings.levels.size()) >= regrid.levels) {
    findings.error(regrid.levelsWhere, "[[grid.level]] asks for level " +
                                           std::to_string(settings.levels.size()) +
                                           ", and amr.max_levels = " + std::to_string(regrid.levels) +
                                           " counts level 0 too; give " +
                                           std::to_string(settings.levels.size() + 1) + " or more");
    return findings;
  }
  if (!checkFineness(settings, findings)) return findings;
  for (const std::string& fault : findLatticeFaults(regridRulesOf(settings)))
    findings.error(regrid.tileWhere, "amr.tile: " + fault);
  checkBuffer(settings, findings);
  return findings;
}

std::vector<std::int64_t> buffersOf(const RunSettings& settings) {
  std::vector<std::int64_t> buffers;
  for (std::size_t level = 0; level < settings.levels.size(); ++level)
    buffers.push_back(settings.regrid->buffer.value_or(cellsCrossed(settings, level)));
  return buffers;
}

std::vector<BlockSet> staticFlags(const RunSettings& settings, const RegridRules& rules) {
  std::vector<BlockSet> flags = noFlags(rules);
  for (std::size_t level = 0; level < settings.levels.size(); ++level) {
    for (const Box& box : settings.levels[level].boxes) flagCells(rules, level, box, flags[level]);
  }
  return flags;
}

void widenNesting(RegridRules& rules, std::span<const StepPlan> plans, const LabelTable& labels,
                  const StandInsByPlan& standIns) {
  for (const StepPlan& plan : plans) {
    for (const TaskDeclaration& task : plan.tasks())
      widenFor(task, rules, labels, standInsOf(standIns, plan.name()));
  }
}

}  // namespace tessera
