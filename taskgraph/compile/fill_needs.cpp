#include "taskgraph/compile/fill_needs.hpp"

#include <algorithm>

namespace tessera::detail {

namespace {

void addNeed(const ResolvedUnit& unit, const ResolvedRead& read, std::vector<FillNeed>& needs) {
  if (read.reach == Reach::Patch && read.halo.isZero()) return;
  const auto known =
      std::find_if(needs.begin(), needs.end(), [&](const FillNeed& n) { return serves(n, unit, read); });
  if (known != needs.end()) {
    known->halo = unite(known->halo, read.halo);
    return;
  }
  const LevelId readers = read.reach == Reach::WholeLevel ? read.level : unit.level;
  needs.push_back({read.label, read.level, read.version, read.reach, readers, read.halo, read.coarseFill,
                   read.coarseVersion, read.ring, read.coarseLabel});
}

}  // namespace

std::vector<FillNeed> fillNeeds(const ResolvedPlan& plan) {
  std::vector<FillNeed> needs;
  for (const ResolvedUnit& unit : plan.units) {
    for (const ResolvedRead& read : unit.reads) {
      // What a halo is interpolated from is filled before it.
      for (const ResolvedRead& ring : unit.reads)
        if (isRingOf(read, ring)) addNeed(unit, ring, needs);
      addNeed(unit, read, needs);
    }
  }
  return needs;
}

bool serves(const FillNeed& need, const ResolvedUnit& unit, const ResolvedRead& read) {
  if (read.reach == Reach::Patch && read.halo.isZero()) return false;
  const bool sameReaders = read.reach == Reach::WholeLevel || need.readerLevel == unit.level;
  return need.label == read.label && need.level == read.level && need.version == read.version &&
         need.reach == read.reach && sameReaders;
}

std::vector<std::vector<LabelNeed>> labelNeeds(std::span<const ResolvedPlan> plans, LabelId labelCount,
                                               int levels) {
  std::vector<std::vector<LabelNeed>> needs(static_cast<std::size_t>(levels),
                                            std::vector<LabelNeed>(static_cast<std::size_t>(labelCount)));
  const auto at = [&](LevelId level, LabelId label) -> LabelNeed& {
    return needs[static_cast<std::size_t>(level)][static_cast<std::size_t>(label)];
  };
  for (const ResolvedPlan& plan : plans) {
    for (const ResolvedUnit& unit : plan.units) {
      for (const ResolvedRead& read : unit.reads) {
        LabelNeed& need = at(read.level, read.label);
        need.used = true;
        need.hasOld = need.hasOld || read.version < 0;
        if (read.reach == Reach::Patch) need.halo = unite(need.halo, read.halo);
        if (!read.coarseFill) continue;
        LabelNeed& below = at(read.level - 1, read.coarseLabel);
        below.used = true;
        below.hasOld = below.hasOld || read.coarseVersion < 0;
      }
      for (const ResolvedWrite& write : unit.writes) at(unit.level, write.label).used = true;
    }
  }
  // Two generations on one level mean two on all: what a checkpoint holds does not depend on the level.
  for (std::size_t label = 0; label < static_cast<std::size_t>(labelCount); ++label) {
    const bool any =
        std::any_of(needs.begin(), needs.end(), [&](const auto& level) { return level[label].hasOld; });
    for (auto& level : needs) level[label].hasOld = any;
  }
  return needs;
}

}  // namespace tessera::detail
