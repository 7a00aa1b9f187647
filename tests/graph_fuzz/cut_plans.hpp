#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera::fuzz {

/// Step plans cut at random lines of an order in which their tasks can run, a line a task and level: items of
/// step programs, which hand New values on. The first plan stays whole. One after the other they compute, bit
/// for bit, what the plan does.
class CutPlans {
 public:
  /// `uncut`: compiled from the plans, of any rank; its order is the one that is cut.
  CutPlans(const CompiledGraphs& uncut, int lines, std::uint64_t seed);

  std::vector<const StepPlan*> plans() const;
  const std::vector<PlanItem>& items() const { return items_; }
  /// Positions in `plans` of what plan number `plan` was cut into, in the order in which they run.
  std::span<const std::size_t> itemsOf(std::size_t plan) const { return itemsOf_[plan]; }

 private:
  using Carried = std::map<LevelLabel, std::string>;  ///< names of the tasks that have left the values

  void addItem(const CompiledGraph& graph, Range units, PlanItem item);
  static void noteLeft(const CompiledGraph& graph, Range units, Carried& carried);

  std::deque<StepPlan> plans_;
  std::vector<PlanItem> items_;
  std::vector<std::vector<std::size_t>> itemsOf_;
};

/// Values that compiled plans take from earlier items.
std::int64_t carriedCount(const CompiledGraphs& graphs);

}  // namespace tessera::fuzz
