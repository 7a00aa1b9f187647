#pragma once

#include <map>
#include <string>
#include <vector>

#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/task_place.hpp"

namespace tessera::detail {

/// Collects the faults of all plans, each a paragraph.
using Faults = std::vector<std::string>;

/// The values that one label takes during a step: version v is what `tasks[v]` leaves.
struct LabelVersions {
  std::vector<std::int32_t> tasks;
};

/// A read with its version settled: -1 is Old, otherwise the version of New.
struct ResolvedRead {
  LabelId label = -1;
  std::int32_t version = -1;
  Halo halo;
};

/// A write with its version settled; version 0 is written afresh, later ones change the one before in place.
struct ResolvedWrite {
  LabelId label = -1;
  std::int32_t version = 0;
};

struct ResolvedTask {
  std::vector<ResolvedRead> reads;
  std::vector<ResolvedWrite> writes;
};

/// A step plan in which every access names the version it means, and the tasks are in an order that can run.
struct ResolvedPlan {
  const StepPlan* plan = nullptr;
  std::map<LabelId, LabelVersions> versions;  ///< of the labels that the plan writes
  std::vector<ResolvedTask> tasks;            ///< in the order of declaration
  std::vector<std::int32_t> order;            ///< task numbers, producers first, else as declared

  const TaskDeclaration& declaration(std::int32_t task) const {
    return plan->tasks()[static_cast<std::size_t>(task)];
  }
};

/// Settles versions and order of one plan; appends what is wrong to `faults`.
ResolvedPlan resolvePlan(const StepPlan& plan, const LabelTable& labels, Faults& faults);

/// Puts the tasks of `resolved` into an order that can run, or notes the circle in which they wait.
void orderTasks(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults);

}  // namespace tessera::detail
