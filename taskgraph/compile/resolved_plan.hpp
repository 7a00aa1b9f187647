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
  bool ring = false;       ///< these cells are interpolated: another read of the unit gathers what they need
  LabelId coarseLabel = -1;  ///< of `coarseVersion`: the label, or what stands in for it
  friend bool operator==(const ResolvedRead&, const ResolvedRead&) = default;
};

/// Whether `ring` gathers the coarser cells from which the halo of `read` is interpolated; of one unit both.
inline bool isRingOf(const ResolvedRead& read, const ResolvedRead& ring) {
  return read.ring && ring.reach == Reach::Coarser && ring.label == read.coarseLabel &&
         ring.level == read.level - 1 && ring.version == read.coarseVersion;
}

/// A write with its version settled; version 0 is written afresh, later ones change the one before in place.
struct ResolvedWrite {
  LabelId label = -1;
  std::int32_t version = 0;
  friend bool operator==(const ResolvedWrite&, const ResolvedWrite&) = default;
};

/// One task on one level (or once a rank, then `level` is -1): the unit of ordering and versions.
struct ResolvedUnit {
  TaskId task{0};
  LevelId level = 0;
  std::vector<ResolvedRead> reads;
  std::vector<ResolvedWrite> writes;
  friend bool operator==(const ResolvedUnit&, const ResolvedUnit&) = default;
};

/// A step plan in which every access names the version it means, and the units are in an order that can run.
struct ResolvedPlan {
  const StepPlan* plan = nullptr;
  std::vector<ResolvedUnit> units;  ///< by task as declared, then by level
  /// Of each label and level of which there are New values: the units that leave version 0, 1, ...; -1 for a
  /// carried value.
  std::map<LevelLabel, std::vector<std::int32_t>> versions;
  std::vector<std::int32_t> order;    ///< unit numbers, producers first, else as declared
  std::vector<CarriedValue> carried;  ///< those that the plan reads or changes, ascending
  bool endsStep = true;               ///< as CompiledGraph has it
  std::vector<StandIn> standIns;      ///< as CompiledGraph has them

  friend bool operator==(const ResolvedPlan&, const ResolvedPlan&) = default;

  const TaskDeclaration& declarationOf(std::int32_t unit) const {
    return plan->task(units[static_cast<std::size_t>(unit)].task);
  }
  /// The unit that leaves this version of New; -1 for Old and for a carried value.
  std::int32_t producerOf(LabelId label, LevelId level, std::int32_t version) const {
    return version < 0 ? -1 : versions.at({label, level})[static_cast<std::size_t>(version)];
  }
  /// The version of New that the plan leaves.
  std::int32_t lastVersion(LabelId label, LevelId level) const {
    return static_cast<std::int32_t>(versions.at({label, level}).size()) - 1;
  }
  /// Whether version 0 is what an earlier item of a step program has left.
  bool carries(const LevelLabel& where) const {
    const auto found = versions.find(where);
    return found != versions.end() && !found->second.empty() && found->second.front() < 0;
  }
  /// Whether some task of the plan writes or changes the label on the level.
  bool writes(const LevelLabel& where) const {
    const auto found = versions.find(where);
    return found != versions.end() && !found->second.empty() && found->second.back() >= 0;
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
ResolvedPlan resolvePlan(const StepPlan& plan, const PlanItem& item, const LabelTable& labels,
                         const Hierarchy& hierarchy, Faults& faults);

/// Puts the units of `resolved` into an order that can run, or notes the cycle in which they wait.
void orderUnits(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults);

/// "Test::advance" or, where the hierarchy has several levels, "Test::advance on level 1".
std::string unitName(const ResolvedPlan& resolved, std::int32_t unit);

}  // namespace tessera::detail
