#include "taskgraph/storage/share_windows.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "grid/rank_map.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/window_groups.hpp"

namespace tessera::detail {
namespace {

/// Calls `visit(plan, read)` for each read of the variable that reaches beyond the reading patch so far.
template <class Visit>
void forEachRead(std::span<const ResolvedPlan> plans, const LevelLabel& what, Reach reach, Visit&& visit) {
  for (const ResolvedPlan& plan : plans) {
    for (const ResolvedUnit& unit : plan.units) {
      for (const ResolvedRead& read : unit.reads) {
        const bool own = read.reach == Reach::Patch && read.halo.isZero();
        if (read.label == what.label && read.level == what.level && read.reach == reach && !own)
          visit(plan, read);
      }
    }
  }
}

/// Whether each version that some task reads so far stays as it is until the end of the step. In a shared
/// window a change in place would reach a reader's neighbourhood before the reader has read it.
bool stays(std::span<const ResolvedPlan> plans, const LevelLabel& what, Reach reach) {
  bool stays = true;
  forEachRead(plans, what, reach, [&](const ResolvedPlan& plan, const ResolvedRead& read) {
    stays = stays && plan.changerOf(read.label, read.level, read.version) < 0;
  });
  return stays;
}

/// Whether a level that is read whole may be the window of its patches: where one rank, with one device at
/// most, has all of them.
bool mayBeWhole(std::span<const ResolvedPlan> plans, const CompileInput& input, const LevelLabel& what) {
  bool read = false;
  forEachRead(plans, what, Reach::WholeLevel, [&](const auto&, const auto&) { read = true; });
  return read && input.ranks == 1 && input.devices == 1 && stays(plans, what, Reach::WholeLevel) &&
         stays(plans, what, Reach::Patch);
}

const Patch& patchOf(const CompiledGraphs& graphs, std::int64_t local) {
  return graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
}

bool isLarge(const Halo& halo) {
  std::int64_t widest = 0;
  for (int d = 0; d < kAxes; ++d) widest = std::max({widest, halo.lo[d], halo.hi[d]});
  return widest >= kLargeHalo;
}

/// Nodes and faces between two patches are written by both: their memory is each patch's own. So is that of
/// halos which are interpolated, each row from its own coarser cells.
bool mayShare(std::span<const ResolvedPlan> plans, const LabelTable& labels, const LevelLabel& what) {
  if (labels.info(what.label).centering != Centering::Cell) return false;
  bool interpolated = false;
  forEachRead(plans, what, Reach::Patch,
              [&](const auto&, const ResolvedRead& read) { interpolated = interpolated || read.ring; });
  return !interpolated;
}

/// The shared windows of one kind of variable: those of the same level, centering and halo are alike.
class Groups {
 public:
  Groups(const CompiledGraphs& graphs, int devices) : graphs_(graphs), devices_(devices) {}

  const std::vector<SharedWindow>& of(LevelId level, Centering centering, const Halo& halo) {
    for (const Known& k : known_) {
      if (k.level == level && k.centering == centering && k.halo == halo) return k.windows;
    }
    Known made{level, centering, halo, make(level, centering, halo)};
    return known_.emplace_back(std::move(made)).windows;
  }

 private:
  struct Known {
    LevelId level;
    Centering centering;
    Halo halo;
    std::vector<SharedWindow> windows;
  };

  std::vector<SharedWindow> make(LevelId number, Centering centering, const Halo& halo) {
    const Level& level = graphs_.hierarchy->level(number);
    const double copies = isLarge(level.effectiveHalo(halo)) ? kCopiesOfLargeHalos : kCopiesOfSmallHalos;
    if (isSmall(number, centering, level.effectiveHalo(halo), copies)) return {};
    std::vector<SharedWindow> all;
    for (const std::vector<std::int32_t>& locals : byDevice(number)) {
      std::vector<Box> owned;
      std::vector<Box> windows;
      for (const std::int32_t local : locals) {
        owned.push_back(level.closedBox(patchOf(graphs_, local), centering));
        windows.push_back(fillTarget(level, patchOf(graphs_, local), centering, halo, Reach::Patch));
      }
      for (WindowGroup& group : groupWindows(owned, windows, copies)) {
        for (std::int32_t& member : group.members) member = locals[static_cast<std::size_t>(member)];
        all.push_back({-1, number, group.window, std::move(group.members), group.full, false});
      }
    }
    return all;
  }

  /// Own patches of a level, ascending, by the device that has them.
  std::vector<std::vector<std::int32_t>> byDevice(LevelId level) const {
    const Range own = graphs_.localsOfLevel[static_cast<std::size_t>(level)];
    std::vector<Patch> patches;
    for (std::int64_t local = own.begin; local < own.end; ++local) patches.push_back(patchOf(graphs_, local));
    const std::vector<int> deviceOf = cutAlongCurve(graphs_.hierarchy->level(level), patches, devices_);
    std::vector<std::vector<std::int32_t>> locals(static_cast<std::size_t>(devices_));
    for (std::size_t n = 0; n < deviceOf.size(); ++n) {
      locals[static_cast<std::size_t>(deviceOf[n])].push_back(static_cast<std::int32_t>(own.begin) +
                                                              static_cast<std::int32_t>(n));
    }
    return locals;
  }

  /// Whether even on the thinnest patch the halo is too small for windows to be shared: the usual case, told
  /// without looking at each window.
  bool isSmall(LevelId level, Centering centering, const Halo& halo, double copies) {
    if (graphs_.localsOfLevel[static_cast<std::size_t>(level)].size() < 2) return true;
    const Extent& thinnest = thinnestOf(level);
    double ratio = 1.0;
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t widest = std::max(halo.lo[d], halo.hi[d]) + (onBorders(centering, d) ? 1 : 0);
      // Where the halo is wider than the patch, the mirrored interior may widen the window further.
      const std::int64_t mirrored = widest > thinnest[d] ? widest : 0;
      ratio *= static_cast<double>(thinnest[d] + 2 * widest + mirrored) / static_cast<double>(thinnest[d]);
    }
    return ratio <= copies;
  }

  /// Along each axis the least that an own patch measures.
  const Extent& thinnestOf(LevelId level) {
    const auto [at, isNew] = thinnest_.try_emplace(level);
    if (!isNew) return at->second;
    const Range own = graphs_.localsOfLevel[static_cast<std::size_t>(level)];
    at->second = patchOf(graphs_, own.begin).cells.extent();
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      const Extent n = patchOf(graphs_, local).cells.extent();
      for (int d = 0; d < kAxes; ++d) at->second[d] = std::min(at->second[d], n[d]);
    }
    return at->second;
  }

  const CompiledGraphs& graphs_;
  const int devices_;
  std::vector<Known> known_;
  std::map<LevelId, Extent> thinnest_;
};

/// Makes the whole level, and the halos around its patches, one window of all patches; false where a buffer
/// for the level and private windows take less.
bool shareWhole(CompiledGraphs& graphs, LevelStorage& storage) {
  const Level& level = graphs.hierarchy->level(storage.level);
  const Centering centering = graphs.labels->info(storage.label).centering;
  const Range own = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)];
  if (own.size() < 2 || own.size() > static_cast<std::int64_t>(kLargestGroup)) return false;
  const std::int64_t elementBytes = graphs.labels->info(storage.label).type.bytes();
  SharedWindow shared{storage.label, storage.level, level.domainOf(centering), {}, false, true};
  std::int64_t owned = 0;
  std::int64_t alone = 0;
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    const Box window = fillTarget(level, patchOf(graphs, local), centering, storage.halo, Reach::Patch);
    shared.window = boundingBox(shared.window, window);
    shared.members.push_back(static_cast<std::int32_t>(local));
    owned += level.closedBox(patchOf(graphs, local), centering).volume();
    alone += window.volume();
  }
  const std::int64_t domain = level.domainOf(centering).volume();
  const std::int64_t generations = storage.hasOld ? 2 : 1;
  shared.full = owned == domain;
  // What no patch covers has to stay unset for who reads the level; a halo would bring coarser values there.
  if (!shared.full && !storage.halo.isZero()) return false;
  if (generations * bytesOf(shared, elementBytes) >= (domain + generations * alone) * elementBytes)
    return false;
  storage.shared.begin = static_cast<std::int64_t>(graphs.shared.size());
  storage.shared.end = storage.shared.begin + 1;
  graphs.shared.push_back(std::move(shared));
  return true;
}

/// Which patches store this variable as one.
void shareStorage(std::span<const ResolvedPlan> plans, const CompileInput& input, Groups& groups,
                  CompiledGraphs& graphs, LevelStorage& storage) {
  const LevelLabel what{storage.label, storage.level};
  if (storage.slot >= 0 || !mayShare(plans, *input.labels, what)) return;  // a slot: patch by patch
  if (mayBeWhole(plans, input, what) && shareWhole(graphs, storage)) return;
  if (storage.halo.isZero()) return;
  if (!stays(plans, what, Reach::Patch)) return;
  const LabelInfo& info = graphs.labels->info(storage.label);
  const std::vector<SharedWindow>& found = groups.of(storage.level, info.centering, storage.halo);
  if (found.empty()) return;
  storage.shared.begin = static_cast<std::int64_t>(graphs.shared.size());
  for (const SharedWindow& shared : found) {
    graphs.shared.push_back(shared);
    graphs.shared.back().label = storage.label;
  }
  storage.shared.end = static_cast<std::int64_t>(graphs.shared.size());
}

}  // namespace

bool willShareWindows(std::span<const ResolvedPlan> plans, const CompileInput& input,
                      const LevelStorage& storage) {
  const LevelLabel what{storage.label, storage.level};
  if (!mayShare(plans, *input.labels, what)) return false;
  const Halo halo = input.hierarchy->level(storage.level).effectiveHalo(storage.halo);
  return mayBeWhole(plans, input, what) || (isLarge(halo) && stays(plans, what, Reach::Patch));
}

void shareWindows(std::span<const ResolvedPlan> plans, const CompileInput& input, CompiledGraphs& graphs) {
  Groups groups(graphs, input.devices);
  for (LevelStorage& storage : graphs.storage) shareStorage(plans, input, groups, graphs, storage);
}

bool shareWindowsAnew(std::span<const ResolvedPlan> plans, const CompileInput& input,
                      const MeshChanges& changes, CompiledGraphs& graphs) {
  std::vector<SharedWindow> before = std::move(graphs.shared);
  graphs.shared.clear();
  Groups groups(graphs, input.devices);
  bool alike = true;
  for (LevelStorage& storage : graphs.storage) {
    const Range had = storage.shared;
    const bool wasWhole = had.size() > 0 && before[static_cast<std::size_t>(had.begin)].whole;
    storage.shared = {};
    if (!changes.levels[static_cast<std::size_t>(storage.level)].same) {
      shareStorage(plans, input, groups, graphs, storage);
      const Range has = storage.shared;
      const bool isWhole = has.size() > 0 && graphs.shared[static_cast<std::size_t>(has.begin)].whole;
      alike = alike && wasWhole == isWhole;
    } else if (had.size() > 0) {
      const auto first = static_cast<std::int64_t>(graphs.shared.size());
      std::move(before.begin() + had.begin, before.begin() + had.end, std::back_inserter(graphs.shared));
      storage.shared = {first, first + had.size()};
    }
  }
  return alike;
}

Range sharedOf(const CompiledGraphs& graphs, const LevelLabel& what) {
  for (const LevelStorage& storage : graphs.storage) {
    if (storage.label == what.label && storage.level == what.level) return storage.shared;
  }
  return {};
}

Range wholeOf(const CompiledGraphs& graphs, const LevelLabel& what) {
  const Range shared = sharedOf(graphs, what);
  const bool whole = shared.size() > 0 && graphs.shared[static_cast<std::size_t>(shared.begin)].whole;
  return whole ? shared : Range{};
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
    std::int64_t inside = level.closedBox(patch, centering).volume();
    for (const Neighbour& n : table.row(member - first)) {
      if (!isInside(shared, n)) continue;
      inside += intersect(target, patchOf(graphs, n.source).cells).volume();
    }
    if (inside < target.volume()) open.push_back(member);
  }
  return open;
}

}  // namespace tessera::detail
