#pragma once

#include <cstdint>

#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// What an analysis looks at: a variable of one double a cell, or one component of a variable of several. A
/// plain value; bodies of tasks copy it.
///
///   reads(plan.task("Analysis::region"), field).runs<Cpu>([field](const auto& task) {
///     const auto u = valuesOf(task, field);   // u(x): the number of the cell x at the begin of the step
///   });
struct AnalysisField {
  Label<double, Cell> whole;
  Label<Components<double>, Cell> parts;
  std::int32_t component = -1;  ///< of `parts`; -1: all of `whole`

  LabelId variable() const { return component < 0 ? whole.id : parts.id; }
};

/// A variable, or one of its components, that a plane of the deck names.
struct PlaneField {
  LabelId label = -1;
  std::int32_t component = -1;  ///< -1: all of them
  bool operator==(const PlaneField&) const = default;
};

/// Declares that a task reads the Old values of the field's variable.
inline TaskBuilder& reads(TaskBuilder& task, const AnalysisField& field) {
  return field.component < 0 ? task.reads(Old, field.whole) : task.reads(Old, field.parts);
}

/// The Old values in the body of a task.
template <class Task>
auto valuesOf(const Task& task, const AnalysisField& field) {
  return field.component < 0 ? task.read(Old, field.whole) : task.read(Old, field.parts)[field.component];
}

}  // namespace tessera
