#pragma once

#include <span>
#include <vector>

#include "taskgraph/compile/fill_needs.hpp"

namespace tessera::detail {

/// When something is in use while a plan runs, first and last moment included. The n-th unit of the order
/// runs at 2 n + 1, the fills and messages of stage n at 2 n.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

/// When values and gather buffers of one plan are in use. Edges of the graph lead from earlier moments to
/// later ones only, so what does not overlap here can be kept apart by edges.
class Lifetimes {
 public:
  Lifetimes(const ResolvedPlan& plan, std::span<const FillNeed> fills);

  /// Of fill number `fill`: stage 0 holds the fills of Old, stage n + 1 those of what the n-th unit of the
  /// order leaves.
  std::size_t stageOf(std::size_t fill) const { return stages_[fill]; }
  /// Of New, from the first write (of a carried value: from the beginning) to the last access: tasks, halos
  /// around it, copies and messages of it. There has to be one.
  Lifetime ofValue(const LevelLabel& what) const;
  /// Of the buffers of fill number `fill`, from the fill to the last reader.
  Lifetime ofGather(std::size_t fill) const;

 private:
  std::size_t stageOf(const FillNeed& need) const;
  std::size_t momentOf(std::size_t unit) const { return 2 * positionOf_[unit] + 1; }

  const ResolvedPlan& plan_;
  std::span<const FillNeed> fills_;
  std::vector<std::size_t> positionOf_;  ///< of each unit in the order
  std::vector<std::size_t> stages_;      ///< by fill
};

}  // namespace tessera::detail
