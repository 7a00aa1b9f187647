#include "tools/simulation/deck/level_stencils.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "taskgraph/fill_geometry.hpp"
#include "tools/simulation/deck/grid_levels.hpp"

namespace tessera {
namespace {

class StencilCheck {
 public:
  StencilCheck(const ParameterValues& grid, const std::vector<RefinedLevel>& levels, const LabelTable& labels)
      : grid_(grid), geometry_(geometryOf(grid)), levels_(levels), labels_(labels) {}

  void add(const TaskDeclaration& task, std::span<const StandIn> standIns) {
    if (task.oncePerRank) return;
    const auto finest = static_cast<LevelId>(levels_.size());
    for (const ReadDeclaration& read : task.reads) {
      if (read.reach == Reach::WholeLevel) lookAtWhole(task, read);
      if (read.reach != Reach::Patch && read.reach != Reach::Coarser) continue;
      for (LevelId level = 1; level <= finest; ++level) {
        if (task.levels.contains(level, finest))
          look(task, read, static_cast<std::size_t>(level) - 1, standIns);
      }
    }
  }
  DeckDiagnostics take() { return std::move(findings_); }

 private:
  /// Patches of a finer level that read the whole of a level look for all of the domain in it.
  void lookAtWhole(const TaskDeclaration& task, const ReadDeclaration& read) {
    const auto finest = static_cast<LevelId>(levels_.size());
    LevelId reader = std::max<LevelId>(read.level, 0) + 1;
    while (reader <= finest && !task.levels.contains(reader, finest)) ++reader;
    if (read.level < 1 || reader > finest || covers(read.level) || findings_.isFull()) return;
    const auto level = static_cast<std::size_t>(read.level) - 1;
    if (!named_.insert({level, 0}).second) return;
    findings_.error(whereOfBox(grid_, level, 0), "the boxes of level " + std::to_string(read.level) +
                                                     " do not cover the domain, which \"" + task.name +
                                                     "\" on level " + std::to_string(reader) +
                                                     " looks for in " + asText(read, labels_) +
                                                     "; enlarge them to the whole domain");
  }
  /// Whether the boxes of a level, which do not overlap, are all of the domain.
  bool covers(LevelId level) const {
    Extent cells = geometry_.cells;
    for (LevelId l = 0; l + 1 < level; ++l) {
      const Extent ratio = ratioAlongAxes(geometry_, levels_[static_cast<std::size_t>(l)].ratio);
      cells = {cells.i * ratio.i, cells.j * ratio.j, cells.k * ratio.k};
    }
    std::int64_t covered = 0;
    for (const Box& box : levels_[static_cast<std::size_t>(level) - 1].boxes) covered += box.volume();
    return covered == cells.i * cells.j * cells.k;
  }

  void look(const TaskDeclaration& task, const ReadDeclaration& read, std::size_t level,
            std::span<const StandIn> standIns) {
    const bool interpolated = isInterpolated(read, labels_, standIns);
    const NestingNeed need{level, read.reach, interpolated ? withRing(read.halo, level) : read.halo};
    if (std::find(seen_.begin(), seen_.end(), need) != seen_.end()) return;
    seen_.push_back(need);
    for (const BoxFault& fault : findShortLevels(geometry_, levels_, need)) {
      if (findings_.isFull() || !named_.insert({fault.level, fault.box}).second) continue;
      const std::size_t isRead = level + (read.reach == Reach::Coarser ? 0 : 1);
      const std::string below = "level " + std::to_string(isRead - 1);
      findings_.error(
          whereOfBox(grid_, fault.level, fault.box),
          "the box of level " + std::to_string(level + 1) + ", cells " +
              asText(levels_[fault.level].boxes[fault.box]) + " of level " + std::to_string(level) +
              ", is too near to the end of " + below + ": \"" + task.name + "\" reads " +
              asText(read, labels_) + (interpolated ? ", interpolated beyond its level" : "") +
              ", which reaches cells that are on no patch of level " + std::to_string(isRead) + " or " +
              std::to_string(isRead - 1) + "; enlarge the boxes of " + below + ", or make this one smaller");
    }
  }

  /// As far as interpolation reaches, in cells of the level.
  Halo withRing(const Halo& halo, std::size_t level) const {
    const Extent ratio = ratioAlongAxes(geometry_, levels_[level].ratio);
    Halo ring = ringHalo(halo, ratio);
    for (int d = 0; d < kAxes; ++d) {
      ring.lo[d] *= ratio[d];
      ring.hi[d] *= ratio[d];
    }
    return ring;
  }

  const ParameterValues& grid_;
  const Geometry geometry_;
  const std::vector<RefinedLevel>& levels_;
  const LabelTable& labels_;
  std::vector<NestingNeed> seen_;
  std::set<std::pair<std::size_t, std::size_t>> named_;  ///< level and box, each once
  DeckDiagnostics findings_;
};

}  // namespace

std::span<const StandIn> standInsOf(const StandInsByPlan& standIns, const std::string& plan) {
  const auto found = standIns.find(plan);
  return found == standIns.end() ? std::span<const StandIn>() : std::span(found->second);
}

bool isInterpolated(const ReadDeclaration& read, const LabelTable& labels,
                    std::span<const StandIn> standIns) {
  if (read.reach != Reach::Patch || read.halo.isZero()) return false;
  const auto isFor = [&](const StandIn& one) {
    return one.label == read.label && one.generation == read.generation;
  };
  return labels.info(read.label).prolongation != Prolongation::Constant ||
         std::any_of(standIns.begin(), standIns.end(), isFor);
}

DeckDiagnostics checkStencils(const ParameterValues& grid, const std::vector<RefinedLevel>& levels,
                              std::span<const StepPlan> plans, const LabelTable& labels,
                              const StandInsByPlan& standIns) {
  StencilCheck check(grid, levels, labels);
  for (const StepPlan& plan : plans) {
    for (const TaskDeclaration& task : plan.tasks()) check.add(task, standInsOf(standIns, plan.name()));
  }
  return check.take();
}

}  // namespace tessera
