#include "taskgraph/storage/scratch_halos.hpp"

#include <algorithm>
#include <limits>

#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/share_windows.hpp"

namespace tessera::detail {
namespace {

/// Whether a plan reads halos of the variable through one task at the most, on one patch at a time, and of
/// Old. A second reader would
/// gather all of it again. New would have to be kept from its next change until the readers around are
/// through, where a stored halo lets go of it earlier; and it is hot when its halo is filled.
bool gathersOnce(const ResolvedPlan& plan, const LevelLabel& what) {
  int readers = 0;
  for (const ResolvedUnit& unit : plan.units) {
    for (const ResolvedRead& read : unit.reads) {
      if (read.label != what.label || read.level != what.level) continue;
      if (read.reach == Reach::WholeLevel) return false;
      if (read.reach != Reach::Patch || read.halo.isZero()) continue;
      if (read.version >= 0 || plan.plan->task(unit.task).oncePerLevel) return false;
      ++readers;
    }
  }
  return readers <= 1;
}

/// Old is not written while a plan runs, because both generations are kept: a task may read its neighbours'
/// at any time. Large halos are better stored once for several patches.
bool mayUseScratch(std::span<const ResolvedPlan> plans, const CompileInput& input,
                   const LevelStorage& storage) {
  const LevelLabel what{storage.label, storage.level};
  const auto& stored = input.storedHalos;
  return storage.hasOld && !storage.halo.isZero() &&
         std::find(stored.begin(), stored.end(), what) == stored.end() &&
         !willShareWindows(plans, input, storage) &&
         std::all_of(plans.begin(), plans.end(),
                     [&](const ResolvedPlan& plan) { return gathersOnce(plan, what); });
}

/// Of the largest patch of this rank.
std::int64_t windowBytes(const CompileInput& input, const LevelStorage& storage) {
  const Level& level = input.hierarchy->level(storage.level);
  const LabelInfo& info = input.labels->info(storage.label);
  std::int64_t most = 0;
  for (const Patch& patch : level.patches()) {
    if ((*input.owners)[static_cast<std::size_t>(patch.id)] != input.rank) continue;
    most = std::max(most, fillTarget(level, patch, info.centering, storage.halo, Reach::Patch).volume());
  }
  return most * info.type.bytes();
}

/// Without halos, all generations.
std::int64_t ownedBytes(const CompileInput& input, std::span<const LevelStorage> storage) {
  std::vector<std::int64_t> cells(input.hierarchy->levels().size(), 0);
  for (std::size_t level = 0; level < cells.size(); ++level) {
    for (const Patch& patch : input.hierarchy->level(static_cast<LevelId>(level)).patches()) {
      if ((*input.owners)[static_cast<std::size_t>(patch.id)] == input.rank)
        cells[level] += patch.cells.volume();
    }
  }
  std::int64_t bytes = 0;
  for (const LevelStorage& s : storage) {
    const std::int64_t generations = s.hasOld ? 2 : 1;
    bytes +=
        cells[static_cast<std::size_t>(s.level)] * input.labels->info(s.label).type.bytes() * generations;
  }
  return bytes;
}

}  // namespace

void chooseScratch(std::span<const ResolvedPlan> plans, const CompileInput& input,
                   std::vector<LevelStorage>& storage) {
  if (input.scratch.above == std::numeric_limits<std::int64_t>::max()) return;
  std::vector<LevelStorage*> chosen;
  for (LevelStorage& s : storage) {
    if (mayUseScratch(plans, input, s)) chosen.push_back(&s);
  }
  std::erase_if(chosen,
                [&](const LevelStorage* s) { return windowBytes(input, *s) > input.scratch.largestWindow; });
  if (chosen.empty() || ownedBytes(input, storage) <= input.scratch.above) return;
  for (LevelStorage* s : chosen) {
    s->scratch = true;
    s->halo = {};
  }
}

bool isScratch(const CompiledGraphs& graphs, const LevelLabel& what) {
  return std::any_of(graphs.storage.begin(), graphs.storage.end(), [&](const LevelStorage& s) {
    return s.scratch && s.label == what.label && s.level == what.level;
  });
}

}  // namespace tessera::detail
