#pragma once

#include "taskgraph/compile/resolved_plan.hpp"

namespace tessera::detail {

/// Finds the chain writer -> modifier -> modifier ... of one label on one level.
class VersionChain {
 public:
  VersionChain(const ResolvedPlan& plan, const std::string& label, LevelLabel where, Faults& faults);

  /// The units in the order of versions; shorter, with a fault noted, where the order is not settled.
  std::vector<std::int32_t> resolve();

 private:
  struct Link {
    std::int32_t unit = 0;
    std::string from;
  };

  const TaskDeclaration& task(std::int32_t unit) const { return plan_.declarationOf(unit); }
  bool hasOneWriter();
  std::vector<Link>::iterator nextAfter(std::int32_t current, std::vector<Link>& left);
  void faultOrder(std::int32_t current, const std::vector<Link>& left, const std::vector<Link>& candidates);

  const ResolvedPlan& plan_;
  const std::string& label_;
  Faults& faults_;
  std::vector<Link> writers_;
  std::vector<Link> modifiers_;
};

}  // namespace tessera::detail
