#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/task_place.hpp"

namespace tessera::detail {

/// Collects the faults of all plans, each a paragraph.
using Faults = std::vector<std::string>;

/// A read with its version settled: -1 is Old, otherwise the version of New.
struct ResolvedRead {
  LabelId label = -1;
  LevelId level = 0;  ///< whose values are read
  std::int32_t version = -1;
  Reach reach = Reach::Patch;
  Halo halo;
  /// Halo cells that no patch of the level covers come from the coarser level: this version of it (-1: Old).
  bool coarseFill = false;
  std::int32_t coarseVersion = -1;
  bool facesOnly = false;  ///< of `halo`: no edges and corners
  friend bool operator==(const ResolvedRead&, const ResolvedRead&) = default;
};

/// A write with its version settled; version 0 is written afresh, later ones change the one before in place.
struct ResolvedWrite {
  LabelId label = -1;
  std::int32_t version = 0;
  friend bool operator==(const ResolvedWrite&, const ResolvedWrite&) = default;
};

/// One task on one level (or once a rank, then `level` is -1): the unit of ordering and versions.
struct ResolvedUnit {
  std::int32_t task = 0;
  LevelId level = 0;
  std::vector<ResolvedRead> reads;
  std::vector<ResolvedWrite> writes;
  friend bool operator==(const ResolvedUnit&, const ResolvedUnit&) = default;
};

/// A step plan in which every access names the version it means, and the units are in an order that can run.
struct ResolvedPlan {
  const StepPlan* plan = nullptr;
  std::vector<ResolvedUnit> units;  ///< by task as declared, then by level
  /// Of each label and level that the plan writes: the units that leave version 0, 1, ...
  std::map<LevelLabel, std::vector<std::int32_t>> versions;
  std::vector<std::int32_t> order;  ///< unit numbers, producers first, else as declared

  friend bool operator==(const ResolvedPlan&, const ResolvedPlan&) = default;

  const TaskDeclaration& declarationOf(std::int32_t unit) const {
    return plan->tasks()[static_cast<std::size_t>(units[static_cast<std::size_t>(unit)].task)];
  }
  /// The unit that leaves this version of New; -1 for Old.
  std::int32_t producerOf(LabelId label, LevelId level, std::int32_t version) const {
    return version < 0 ? -1 : versions.at({label, level})[static_cast<std::size_t>(version)];
  }
  /// The version of New that the plan leaves.
  std::int32_t lastVersion(LabelId label, LevelId level) const {
    return static_cast<std::int32_t>(versions.at({label, level}).size()) - 1;
  }
  /// The unit that changes this version in place, or -1.
  std::int32_t changerOf(LabelId label, LevelId level, std::int32_t version) const {
    if (version < 0) return -1;
    const auto& chain = versions.at({label, level});
    const auto next = static_cast<std::size_t>(version) + 1;
    return next < chain.size() ? chain[next] : -1;
  }
};

/// Settles versions and order of all plans of a simulation. Throws PlanError with all faults.
std::vector<ResolvedPlan> resolvePlans(std::span<const StepPlan* const> plans, const CompileInput& input);

/// Settles versions and order of one plan; appends what is wrong to `faults`.
ResolvedPlan resolvePlan(const StepPlan& plan, const LabelTable& labels, const Hierarchy& hierarchy,
                         Faults& faults);

/// Puts the units of `resolved` into an order that can run, or notes the cycle in which they wait.
void orderUnits(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults);

/// "Test::advance" or, where the hierarchy has several levels, "Test::advance on level 1".
std::string unitName(const ResolvedPlan& resolved, std::int32_t unit);

}  // namespace tessera::detail
