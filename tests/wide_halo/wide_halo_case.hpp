#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera::bench {

/// The halo that is the whole level.
inline constexpr std::int64_t kWholeLevel = -1;

/// What is computed, and on which mesh.
struct WideHalo {
  std::string shape =
      "box";                ///< box: the only level; L, plus: level 1, over a level 0 that covers the domain
  std::int64_t cells = 64;  ///< along an axis of the level that is looked at
  std::int64_t halo = 16;   ///< in cells, or kWholeLevel
  std::int64_t patch = 16;  ///< cells along an axis of a patch
  bool periodic = false;
  /// A task of the host reads the same halo of Old beside the one that may run on a device.
  bool hostReads = false;
};

std::string asText(const WideHalo& what);

/// One variable, and a step in which each patch of its finest level reads the wide halo around it. All tasks
/// but one of the host have a body for devices.
///
///   WideHaloCase c({"L", 64, 16});
///   const CompiledGraphs graphs = compileGraphs(c.plans(), {c.hierarchy(), &c.labels(), &owners, 0});
class WideHaloCase {
 public:
  explicit WideHaloCase(const WideHalo& what);
  WideHaloCase(const WideHaloCase&) = delete;
  WideHaloCase& operator=(const WideHaloCase&) = delete;

  const std::shared_ptr<const Hierarchy>& hierarchy() const { return mesh_; }
  const LabelTable& labels() const { return labels_; }
  /// The initial plan, and the step.
  std::vector<const StepPlan*> plans() const { return {&initial_, &step_}; }
  /// The variables that a step leaves.
  std::vector<LabelId> results() const;

  /// Their Old values on an own patch, as the host has them.
  std::vector<double> valuesOn(const DataWarehouse& data, std::size_t local) const;
  /// A copy of the level for each patch that reads it, as tasks with halos of their own would keep it.
  std::int64_t bytesOfLevelCopies() const;

 private:
  void declareStep();
  /// Declares what `task` reads, and that it writes `to`; its body is the result.
  TaskBody declareReader(TaskBuilder& task, Label<double, Cell> to) const;

  const WideHalo what_;
  std::shared_ptr<const Hierarchy> mesh_;
  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> seen_ = labels_.variable<double, Cell>("seen");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

}  // namespace tessera::bench
