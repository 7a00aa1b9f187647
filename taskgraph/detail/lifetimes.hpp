#pragma once

#include <span>
#include <vector>

#include "taskgraph/detail/fill_needs.hpp"

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

  /// Stage 0 holds the fills of Old, stage n + 1 those of what the n-th unit of the order leaves.
  std::size_t stageOf(const FillNeed& need) const;
  /// Of New, from the first write to the last access: tasks, halos around it, copies and messages of it. The
  /// plan has to write it.
  Lifetime ofValue(const LevelLabel& what) const;
  /// Of the buffers of a gather, from the fill to the last reader.
  Lifetime ofGather(const FillNeed& need) const;

 private:
  std::size_t momentOf(std::size_t unit) const { return 2 * positionOf_[unit] + 1; }

  const ResolvedPlan& plan_;
  std::span<const FillNeed> fills_;
  std::vector<std::size_t> positionOf_;  ///< of each unit in the order
};

}  // namespace tessera::detail
