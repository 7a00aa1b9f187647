#include "taskgraph/recompile/mesh_changes.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "taskgraph/compile/own_patches.hpp"

namespace tessera::detail {
namespace {

/// Before `b` where lower along the axes other than `along`, the slowest first; then along it, longer ones
/// first.
bool lowerAcross(const Box& a, const Box& b, int along) {
  for (int d = kAxes - 1; d >= 0; --d) {
    if (d != along && a.lo[d] != b.lo[d]) return a.lo[d] < b.lo[d];
  }
  return a.lo[along] != b.lo[along] ? a.lo[along] < b.lo[along] : a.hi[along] > b.hi[along];
}

bool continues(const Box& a, const Box& b, int along) {
  for (int d = 0; d < kAxes; ++d) {
    if (d == along ? a.hi[d] != b.lo[d] : a.lo[d] != b.lo[d] || a.hi[d] != b.hi[d]) return false;
  }
  return true;
}

/// Moves one level from the old mesh to the new one.
class LevelMove {
 public:
  LevelMove(CompiledGraphs& graphs, const RankMap& ownersBefore, const CompileInput& next,
            const std::vector<std::int32_t>& slotBefore, LevelId level)
      : graphs_(graphs),
        ownersBefore_(ownersBefore),
        next_(next),
        slotBefore_(slotBefore),
        before_(graphs.hierarchy->level(level)),
        after_(next.hierarchy->level(level)),
        slots_(graphs.localsOfLevel[static_cast<std::size_t>(level)]),
        room_(roomOf(graphs, level)) {
    changes_.before = slots_;
  }

  bool run() {
    match();
    return place();
  }
  LevelChanges take() {
    std::sort(changes_.slots.begin(), changes_.slots.end());
    changes_.slots.erase(std::unique(changes_.slots.begin(), changes_.slots.end()), changes_.slots.end());
    changes_.regions = joined(std::move(changes_.regions));
    changes_.remoteRegions = joined(std::move(changes_.remoteRegions));
    return std::move(changes_);
  }
  std::int64_t patches() const { return patches_; }

 private:
  Rank ownerBefore(std::size_t n) const {
    return ownersBefore_[static_cast<std::size_t>(before_.firstPatch()) + n];
  }
  Rank ownerAfter(std::size_t n) const {
    return (*next_.owners)[static_cast<std::size_t>(after_.firstPatch()) + n];
  }
  std::int32_t& slotAfter(std::size_t n) {
    return graphs_.localOfPatch[static_cast<std::size_t>(after_.firstPatch()) + n];
  }
  void changed(const Box& cells, bool remote) {
    changes_.regions.push_back(cells);
    if (remote) changes_.remoteRegions.push_back(cells);
    ++patches_;
  }

  void match();
  std::size_t find(const Box& cells) const;
  void stays(std::size_t now, std::size_t then);
  void goes(std::size_t then);
  void comes(std::size_t now);
  bool place();
  void put(std::size_t now, std::int64_t slot);

  CompiledGraphs& graphs_;
  const RankMap& ownersBefore_;
  const CompileInput& next_;
  const std::vector<std::int32_t>& slotBefore_;  ///< by patch of the old mesh
  const Level& before_;
  const Level& after_;
  Range slots_;
  Range room_;
  LevelChanges changes_;
  std::vector<std::int32_t> free_;
  std::vector<std::size_t> newcomers_;  ///< positions in the new level
  std::int64_t patches_ = 0;
};

/// Most patches follow one another as before, so a finger moves along the old list.
void LevelMove::match() {
  const auto old = before_.patches();
  const auto now = after_.patches();
  std::vector<std::uint8_t> stayed(old.size(), 0);
  std::size_t finger = 0;
  for (std::size_t n = 0; n < now.size(); ++n) {
    const bool next = finger < old.size() && old[finger].cells == now[n].cells;
    const std::size_t then = next ? finger : find(now[n].cells);
    if (then == old.size()) {
      comes(n);
      continue;
    }
    changes_.same = changes_.same && then == n;
    finger = then + 1;
    stayed[then] = 1;
    stays(n, then);
  }
  for (std::size_t n = 0; n < old.size(); ++n) {
    if (stayed[n] == 0) goes(n);
  }
}

std::size_t LevelMove::find(const Box& cells) const {
  std::size_t found = before_.patches().size();
  before_.forEachOverlapping({cells.lo, cells.lo + Index{1, 1, 1}}, [&](const Patch& patch) {
    if (patch.cells == cells) found = static_cast<std::size_t>(patch.id - before_.firstPatch());
  });
  return found;
}

void LevelMove::stays(std::size_t now, std::size_t then) {
  const Rank owner = ownerAfter(now);
  if (owner != ownerBefore(then)) {
    goes(then);
    comes(now);
    return;
  }
  if (owner != next_.rank) return;
  const std::int32_t slot = slotBefore_[static_cast<std::size_t>(before_.firstPatch()) + then];
  slotAfter(now) = slot;
  graphs_.ownPatches[static_cast<std::size_t>(slot)] = after_.firstPatch() + static_cast<PatchId>(now);
}

void LevelMove::goes(std::size_t then) {
  changes_.same = false;
  const bool own = ownerBefore(then) == next_.rank;
  changed(before_.patches()[then].cells, !own);
  if (own) free_.push_back(slotBefore_[static_cast<std::size_t>(before_.firstPatch()) + then]);
}

void LevelMove::comes(std::size_t now) {
  changes_.same = false;
  const bool own = ownerAfter(now) == next_.rank;
  changed(after_.patches()[now].cells, !own);
  if (own) newcomers_.push_back(now);
}

void LevelMove::put(std::size_t now, std::int64_t slot) {
  slotAfter(now) = static_cast<std::int32_t>(slot);
  graphs_.ownPatches[static_cast<std::size_t>(slot)] = after_.firstPatch() + static_cast<PatchId>(now);
  changes_.slots.push_back(static_cast<std::int32_t>(slot));
}

bool LevelMove::place() {
  const std::int64_t count =
      slots_.size() - static_cast<std::int64_t>(free_.size()) + static_cast<std::int64_t>(newcomers_.size());
  if (count > room_.size()) return false;
  const std::int64_t end = slots_.begin + count;
  std::sort(free_.begin(), free_.end());
  changes_.slots.insert(changes_.slots.end(), free_.begin(), free_.end());
  std::size_t filled = 0;
  std::int64_t fresh = slots_.end;
  for (const std::size_t now : newcomers_) {
    put(now, filled < free_.size() && free_[filled] < end ? free_[filled++] : fresh++);
  }
  // What is in use behind the new end moves into the gaps that are left.
  const std::vector<std::int32_t> gaps(free_.begin() + static_cast<std::ptrdiff_t>(filled), free_.end());
  std::size_t gap = 0;
  for (std::int64_t slot = end; slot < slots_.end; ++slot) {
    PatchId& patch = graphs_.ownPatches[static_cast<std::size_t>(slot)];
    if (!std::binary_search(gaps.begin(), gaps.end(), static_cast<std::int32_t>(slot))) {
      const auto now = static_cast<std::size_t>(patch - after_.firstPatch());
      changed(after_.patches()[now].cells, false);
      changes_.slots.push_back(static_cast<std::int32_t>(slot));
      put(now, gaps[gap++]);
    }
    patch = -1;
  }
  slots_.end = end;
  graphs_.localsOfLevel[static_cast<std::size_t>(after_.number())] = slots_;
  return true;
}

}  // namespace

std::optional<MeshChanges> moveToMesh(CompiledGraphs& graphs, const RankMap& ownersBefore,
                                      const CompileInput& next) {
  std::vector<std::int32_t> slotBefore = std::move(graphs.localOfPatch);
  if (slotBefore.empty()) slotBefore = localsByPatch(graphs.ownPatches, graphs.hierarchy->patchCount());
  graphs.localOfPatch.assign(static_cast<std::size_t>(next.hierarchy->patchCount()), -1);
  MeshChanges changes;
  for (const Level& level : next.hierarchy->levels()) {
    LevelMove move(graphs, ownersBefore, next, slotBefore, level.number());
    if (!move.run()) return std::nullopt;
    changes.levels.push_back(move.take());
    changes.patches += move.patches();
  }
  graphs.hierarchy = next.hierarchy;
  return changes;
}

std::vector<Box> joined(std::vector<Box> boxes) {
  for (int along = 0; along < kAxes; ++along) {
    const auto before = [&](const Box& a, const Box& b) { return lowerAcross(a, b, along); };
    if (!std::is_sorted(boxes.begin(), boxes.end(), before)) std::sort(boxes.begin(), boxes.end(), before);
    std::size_t kept = 0;
    for (std::size_t n = 1; n < boxes.size(); ++n) {
      if (continues(boxes[kept], boxes[n], along)) {
        boxes[kept].hi[along] = boxes[n].hi[along];
      } else if (!boxes[kept].contains(boxes[n])) {
        boxes[++kept] = boxes[n];
      }
    }
    if (!boxes.empty()) boxes.resize(kept + 1);
  }
  return boxes;
}

}  // namespace tessera::detail
