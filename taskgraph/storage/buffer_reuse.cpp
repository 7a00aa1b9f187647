#include "taskgraph/storage/buffer_reuse.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/text/contracts.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/share_windows.hpp"

namespace tessera::detail {
namespace {

/// Of one variable, by plan; empty where the plan does not write it.
using PlanLifetimes = std::vector<std::optional<Lifetime>>;

bool inUseTogether(const PlanLifetimes& a, const PlanLifetimes& b) {
  for (std::size_t p = 0; p < a.size(); ++p) {
    if (a[p] && b[p] && a[p]->overlaps(*b[p])) return true;
  }
  return false;
}

/// Bytes on a patch of usual size, for comparisons that a regrid does not change.
std::int64_t sizeOf(const LevelStorage& storage, const CompileInput& input) {
  const Level& level = input.hierarchy->level(storage.level);
  const LabelInfo& info = input.labels->info(storage.label);
  Patch patch{-1, storage.level, level.domain()};
  for (int d = 0; d < kAxes; ++d) patch.cells.hi[d] = std::min(patch.cells.hi[d], patch.cells.lo[d] + 16);
  return fillTarget(level, patch, info.centering, storage.halo, Reach::Patch).volume() * info.type.bytes();
}

/// Fills slots of one level after the other.
class Packing {
 public:
  Packing(const CompileInput& input, std::vector<LevelStorage>& storage) : input_(input), storage_(storage) {}

  void pack(std::vector<std::size_t> candidates, const std::vector<PlanLifetimes>& lifetimes) {
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
      return sizeOf(storage_[a], input_) > sizeOf(storage_[b], input_);
    });
    std::vector<std::vector<std::size_t>> slots;
    for (const std::size_t candidate : candidates) {
      const auto free = [&](const std::vector<std::size_t>& slot) {
        return std::none_of(slot.begin(), slot.end(), [&](std::size_t other) {
          return inUseTogether(lifetimes[candidate], lifetimes[other]);
        });
      };
      const auto slot = std::find_if(slots.begin(), slots.end(), free);
      if (slot == slots.end()) {
        slots.push_back({candidate});
      } else {
        slot->push_back(candidate);
      }
    }
    for (const auto& slot : slots) {
      if (slot.size() < 2) continue;
      for (const std::size_t n : slot) storage_[n].slot = next_;
      ++next_;
    }
  }

 private:
  const CompileInput& input_;
  std::vector<LevelStorage>& storage_;
  std::int32_t next_ = 0;
};

}  // namespace

void shareMemory(std::span<const ResolvedPlan> plans, const CompileInput& input,
                 std::vector<LevelStorage>& storage) {
  std::vector<PlanLifetimes> lifetimes(storage.size());
  for (const ResolvedPlan& plan : plans) {
    const std::vector<FillNeed> fills = fillNeeds(plan);
    const Lifetimes ofPlan(plan, fills);
    for (std::size_t n = 0; n < storage.size(); ++n) {
      const LevelLabel what{storage[n].label, storage[n].level};
      lifetimes[n].emplace_back();
      if (plan.versions.count(what) > 0) lifetimes[n].back() = ofPlan.ofValue(what);
    }
  }
  std::map<LevelId, std::vector<std::size_t>> candidates;
  for (std::size_t n = 0; n < storage.size(); ++n) {
    const LevelLabel what{storage[n].label, storage[n].level};
    const auto carries = [&](const ResolvedPlan& plan) { return plan.carries(what); };
    const bool kept = std::find(input.kept.begin(), input.kept.end(), what.label) != input.kept.end() ||
                      std::any_of(plans.begin(), plans.end(), carries);
    // Storing a large halo once saves more than lending it patch by patch.
    const bool lean = input.sharing == WindowSharing::On && willShareWindows(plans, input, storage[n]);
    if (!storage[n].hasOld && !kept && !lean) candidates[storage[n].level].push_back(n);
  }
  Packing packing(input, storage);
  for (auto& [level, list] : candidates) packing.pack(std::move(list), lifetimes);
}

MemoryOrder::MemoryOrder(const ResolvedPlan& plan, std::span<const LevelStorage> storage) {
  const std::vector<FillNeed> fills = fillNeeds(plan);
  const Lifetimes lifetimes(plan, fills);
  struct User {
    std::size_t first;
    LevelLabel what;
  };
  std::map<std::int32_t, std::vector<User>> usersOf;
  for (const LevelStorage& s : storage) {
    const LevelLabel what{s.label, s.level};
    if (s.slot < 0 || plan.versions.count(what) == 0) continue;
    usersOf[s.slot].push_back({lifetimes.ofValue(what).first, what});
  }
  for (auto& [slot, users] : usersOf) {
    std::sort(users.begin(), users.end(), [](const User& a, const User& b) { return a.first < b.first; });
    for (std::size_t n = 1; n < users.size(); ++n) {
      before_[users[n].what] = users[n - 1].what.label;
      after_[users[n - 1].what] = users[n].what.label;
    }
  }
}

GatherOrder::GatherOrder(const ResolvedPlan& plan, BufferReuse reuse,
                         const std::function<bool(const FillNeed&)>& isWindow) {
  const std::vector<FillNeed> fills = fillNeeds(plan);
  const Lifetimes lifetimes(plan, fills);
  groupOf_.assign(fills.size(), -1);
  before_.assign(fills.size(), -1);
  std::vector<std::size_t> order;
  std::vector<Lifetime> inUse;
  for (std::size_t f = 0; f < fills.size(); ++f) {
    inUse.push_back(lifetimes.ofGather(f));
    if (fills[f].reach != Reach::Patch && !isWindow(fills[f])) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return inUse[a].first < inUse[b].first; });
  std::vector<std::size_t> lastOf;  // by group
  for (const std::size_t f : order) {
    const bool whole = fills[f].reach == Reach::WholeLevel;
    const auto fits = [&](std::size_t last) {
      const bool sameRows = (fills[last].reach == Reach::WholeLevel) == whole &&
                            (whole || fills[last].readerLevel == fills[f].readerLevel);
      return sameRows && inUse[last].last < inUse[f].first;
    };
    auto group = reuse == BufferReuse::On ? std::find_if(lastOf.begin(), lastOf.end(), fits) : lastOf.end();
    if (group == lastOf.end()) {
      group = lastOf.insert(lastOf.end(), f);
    } else {
      before_[f] = static_cast<std::int32_t>(*group);
      *group = f;
    }
    groupOf_[f] = static_cast<std::int32_t>(group - lastOf.begin());
  }
  firstSlots_.assign(lastOf.size(), -1);
}

std::int32_t GatherOrder::firstSlot(std::size_t fill, std::int64_t rows) {
  std::int32_t& first = firstSlots_[static_cast<std::size_t>(groupOf_[fill])];
  if (first < 0) {
    TESSERA_EXPECT(slots_ + rows < std::numeric_limits<std::int32_t>::max(),
                   "give a rank less than 2^31 gather buffers");
    first = static_cast<std::int32_t>(slots_);
    slots_ += rows;
  }
  return first;
}

}  // namespace tessera::detail
