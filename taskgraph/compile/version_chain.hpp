#pragma once

#include "taskgraph/compile/resolved_plan.hpp"

namespace tessera::detail {

/// Finds the chain writer -> modifier -> modifier ... of one label on one level. Where no task writes the
/// label afresh and there is a carried value of it, the chain begins with that: -1.
class VersionChain {
 public:
  /// `carried` may be null; it outlives the object.
  VersionChain(const ResolvedPlan& plan, const std::string& label, LevelLabel where,
               const CarriedValue* carried, Faults& faults);

  /// The units in the order of versions; shorter, with a fault noted, where the order is not settled.
  std::vector<std::int32_t> resolve();

 private:
  struct Link {
    std::int32_t unit = 0;
    std::string from;
  };

  const TaskDeclaration& task(std::int32_t unit) const { return plan_.declarationOf(unit); }
  bool hasOneWriter();
  bool changesCarried() const { return writers_.empty() && carried_ != nullptr; }
  /// Whether `name` leaves what `current` stands for: a unit, or -1 for the carried value.
  bool leaves(const std::string& name, std::int32_t current) const;
  /// A name that a clause may give for it.
  const std::string& nameOf(std::int32_t current) const;
  std::vector<Link>::iterator nextAfter(std::int32_t current, std::vector<Link>& left);
  void faultOrder(std::int32_t current, const std::vector<Link>& left, const std::vector<Link>& candidates);

  const ResolvedPlan& plan_;
  const std::string& label_;
  const CarriedValue* carried_;
  Faults& faults_;
  std::vector<Link> writers_;
  std::vector<Link> modifiers_;
};

}  // namespace tessera::detail
