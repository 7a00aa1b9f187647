#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Names of optional parts, ascending, each once.
using PartSet = std::vector<std::string>;

/// The parts of a step that not every step has, of all components, and which of them come together.
class StepParts {
 public:
  StepParts() = default;
  /// Throws PlanError where a part has no steps to be due in, two components give one part different
  /// cadences, or too many sets of parts could come together.
  explicit StepParts(std::span<const std::unique_ptr<Component>> components);

  bool isPart(const std::string& name) const;
  const std::vector<OptionalPart>& parts() const { return parts_; }
  /// The sets of parts, none of them empty, that are due together in some step: those by steps as their
  /// cadences meet, each with any of those by time.
  const std::vector<PartSet>& sets() const { return sets_; }
  /// Those that are due in every step.
  PartSet always() const;
  /// The set of a step, perhaps empty: the same on every rank.
  PartSet due(const StepAt& at) const;

  /// "step+lines+radiation", the name of the step with these parts.
  static std::string stepName(const std::string& step, const PartSet& parts);
  /// The first set without what is in the second one.
  static PartSet without(const PartSet& set, const PartSet& left);
  /// The tasks of the usual plan and of the parts, in the order of declaration, as a plan of that name.
  static StepPlan withUsual(const StepPlan& declared, const std::string& usual, const PartSet& parts,
                            const std::string& name);
  /// The tasks of the parts alone.
  static StepPlan alone(const StepPlan& declared, const PartSet& parts);

 private:
  void add(const OptionalPart& part, const std::string& component, std::vector<std::string>& faults);
  void findSets(std::vector<std::string>& faults);

  std::vector<OptionalPart> parts_;  ///< ascending by name
  std::vector<PartSet> sets_;
};

}  // namespace tessera
