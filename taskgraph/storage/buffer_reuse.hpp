#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "taskgraph/compile/lifetimes.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera::detail {

/// What has to be stored of each variable, by label, then level, with the memory that it shares. Does not
/// depend on the patches.
std::vector<LevelStorage> storageOf(std::span<const ResolvedPlan> plans, const CompileInput& input);

/// Puts variables of one generation, that nobody keeps, into shared slots where no plan uses two of them at
/// the same time. Largest first, each into the first slot that is free: the same on every rank.
void shareMemory(std::span<const ResolvedPlan> plans, const CompileInput& input,
                 std::vector<LevelStorage>& storage);

/// Who takes over the memory of a variable from whom while one plan runs.
class MemoryOrder {
 public:
  MemoryOrder(const ResolvedPlan& plan, std::span<const LevelStorage> storage);

  /// The variable on the same level that used the memory before this one in the plan, and the one that uses
  /// it next; -1: none.
  LabelId before(const LevelLabel& what) const { return labelIn(before_, what); }
  LabelId after(const LevelLabel& what) const { return labelIn(after_, what); }

 private:
  using Neighbours = std::map<LevelLabel, LabelId>;
  static LabelId labelIn(const Neighbours& list, const LevelLabel& what) {
    const auto found = list.find(what);
    return found == list.end() ? -1 : found->second;
  }

  Neighbours before_;
  Neighbours after_;
};

/// Which gathers of a plan share buffers, row by row. Gathers with rows of one level can, and whole levels.
class GatherOrder {
 public:
  /// `isWindow(need)`: whether a gather has no buffer, since its readers look at the windows of the patches.
  GatherOrder(const ResolvedPlan& plan, BufferReuse reuse,
              const std::function<bool(const FillNeed&)>& isWindow);

  /// Slot of the first row of gather number `fill`, which has `rows` rows.
  std::int32_t firstSlot(std::size_t fill, std::int64_t rows);
  /// The fill that used the buffers before; -1: none.
  std::int32_t before(std::size_t fill) const { return before_[fill]; }

 private:
  std::vector<std::int32_t> groupOf_;     ///< by fill; -1 where the fill gathers nothing
  std::vector<std::int32_t> before_;      ///< by fill
  std::vector<std::int32_t> firstSlots_;  ///< by group; -1: not given yet
  std::int64_t slots_ = 0;
};

}  // namespace tessera::detail
