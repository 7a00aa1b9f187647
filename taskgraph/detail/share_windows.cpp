#include "taskgraph/detail/share_windows.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/window_groups.hpp"

namespace tessera::detail {
namespace {

/// Whether each version whose halo some task reads stays as it is until the end of the step. In a shared
/// window a change in place would reach a neighbour's halo before the neighbour has read it.
bool haloStays(std::span<const ResolvedPlan> plans, const LevelLabel& what) {
  for (const ResolvedPlan& plan : plans) {
    for (const ResolvedUnit& unit : plan.units) {
      for (const ResolvedRead& read : unit.reads) {
        const bool halo = read.reach == Reach::Patch && !read.halo.isZero();
        if (!halo || read.label != what.label || read.level != what.level) continue;
        if (plan.changerOf(read.label, read.level, read.version) >= 0) return false;
      }
    }
  }
  return true;
}

const Patch& patchOf(const CompiledGraphs& graphs, std::int64_t local) {
  return graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
}

bool isLarge(const Halo& halo) {
  std::int64_t widest = 0;
  for (int d = 0; d < kAxes; ++d) widest = std::max({widest, halo.lo[d], halo.hi[d]});
  return widest >= kLargeHalo;
}

/// Groups of the windows of one kind of variable: those of the same level, centering and halo are alike.
class Groups {
 public:
  explicit Groups(const CompiledGraphs& graphs) : graphs_(graphs) {}

  const std::vector<WindowGroup>& of(LevelId level, Centering centering, const Halo& halo) {
    for (const Known& k : known_) {
      if (k.level == level && k.centering == centering && k.halo == halo) return k.groups;
    }
    return known_.emplace_back(Known{level, centering, halo, make(level, centering, halo)}).groups;
  }

 private:
  struct Known {
    LevelId level;
    Centering centering;
    Halo halo;
    std::vector<WindowGroup> groups;
  };

  std::vector<WindowGroup> make(LevelId number, Centering centering, const Halo& halo) const {
    const Level& level = graphs_.hierarchy->level(number);
    const double copies = isLarge(level.effectiveHalo(halo)) ? kCopiesOfLargeHalos : kCopiesOfSmallHalos;
    if (isSmall(number, centering, level.effectiveHalo(halo), copies)) return {};
    std::vector<Box> owned;
    std::vector<Box> windows;
    const Range own = graphs_.localsOfLevel[static_cast<std::size_t>(number)];
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      owned.push_back(level.ownedBy(patchOf(graphs_, local), centering));
      windows.push_back(fillTarget(level, patchOf(graphs_, local), centering, halo, Reach::Patch));
    }
    return groupWindows(owned, windows, copies);
  }

  /// Whether even on the thinnest patch the halo is too small for windows to be shared: the usual case, told
  /// without looking at each window.
  bool isSmall(LevelId level, Centering centering, const Halo& halo, double copies) const {
    const Range own = graphs_.localsOfLevel[static_cast<std::size_t>(level)];
    if (own.size() < 2) return true;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    Extent thinnest{kMost, kMost, kMost};
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      const Extent n = patchOf(graphs_, local).cells.extent();
      for (int d = 0; d < kAxes; ++d) thinnest[d] = std::min(thinnest[d], n[d]);
    }
    double ratio = 1.0;
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t widest = std::max(halo.lo[d], halo.hi[d]) + (onBorders(centering, d) ? 1 : 0);
      // Where the halo is wider than the patch, the mirrored interior may widen the window further.
      const std::int64_t mirrored = widest > thinnest[d] ? widest : 0;
      ratio *= static_cast<double>(thinnest[d] + 2 * widest + mirrored) / static_cast<double>(thinnest[d]);
    }
    return ratio <= copies;
  }

  const CompiledGraphs& graphs_;
  std::vector<Known> known_;
};

}  // namespace

bool willShareWindows(std::span<const ResolvedPlan> plans, const Hierarchy& hierarchy,
                      const LevelStorage& storage) {
  return isLarge(hierarchy.level(storage.level).effectiveHalo(storage.halo)) &&
         haloStays(plans, {storage.label, storage.level});
}

void shareWindows(std::span<const ResolvedPlan> plans, CompiledGraphs& graphs) {
  Groups groups(graphs);
  for (LevelStorage& storage : graphs.storage) {
    if (storage.halo.isZero() || storage.slot >= 0) continue;  // a slot is shared patch by patch
    const auto& found = groups.of(storage.level, graphs.labels->info(storage.label).centering, storage.halo);
    if (found.empty() || !haloStays(plans, {storage.label, storage.level})) continue;
    const std::int64_t first = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)].begin;
    storage.shared.begin = static_cast<std::int64_t>(graphs.shared.size());
    for (const WindowGroup& group : found) {
      SharedWindow shared{storage.label, storage.level, group.window, group.members, group.full};
      for (std::int32_t& member : shared.members) member += static_cast<std::int32_t>(first);
      graphs.shared.push_back(std::move(shared));
    }
    storage.shared.end = static_cast<std::int64_t>(graphs.shared.size());
  }
}

Range sharedOf(const CompiledGraphs& graphs, const LevelLabel& what) {
  for (const LevelStorage& storage : graphs.storage) {
    if (storage.label == what.label && storage.level == what.level) return storage.shared;
  }
  return {};
}

std::vector<std::int32_t> openMembers(const SharedWindow& shared, const FillPlan& fill,
                                      const NeighbourTable& table, const CompiledGraphs& graphs) {
  const Level& level = graphs.hierarchy->level(shared.level);
  const Centering centering = graphs.labels->info(shared.label).centering;
  const std::int64_t first = graphs.localsOfLevel[static_cast<std::size_t>(shared.level)].begin;
  std::vector<std::int32_t> open;
  for (const std::int32_t member : shared.members) {
    const Patch& patch = patchOf(graphs, member);
    const Box target = fillTarget(level, patch, centering, fill.halo, Reach::Patch);
    std::int64_t inside = level.ownedBy(patch, centering).volume();
    for (const Neighbour& n : table.row(member - first)) {
      if (!isInside(shared, n)) continue;
      inside += sourceRegion(level, patchOf(graphs, n.source), centering, target, {}).volume();
    }
    if (inside < target.volume()) open.push_back(member);
  }
  return open;
}

}  // namespace tessera::detail
