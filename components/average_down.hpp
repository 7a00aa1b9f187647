#pragma once

#include <string_view>

#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Declares a task that gives every cell under finer patches the mean of the finer cells over it, of New, in
/// place. On several levels it goes down level by level: each reads what the finer level holds after its own
/// mean. A mean is summed in pairs, so mirrored values have mirrored means, bit by bit; that of equal values
/// is exactly their value. For a mesh of several levels: declare it where `ComponentSetup::levels` is above
/// 1, right after each task that writes the variable.
///
///   if (levels_ > 1) averageDown(step, "Heat::averageDown", temperature_);
///
/// `of`: the task whose value it changes, where several tasks change the variable. The task takes clauses
/// more, such as the plan that it is of.
TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, Cell> label,
                        std::string_view of = "");
/// The same for each component.
TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> label,
                        std::string_view of = "");
/// The same for faces: every one that finer faces lie on, also where finer patches end, gets their mean. So
/// what flows through a border of levels is one number on both sides.
TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceX> label,
                        std::string_view of = "");
TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceY> label,
                        std::string_view of = "");
TaskBuilder averageDown(StepPlan& plan, std::string_view name, Label<double, FaceZ> label,
                        std::string_view of = "");

}  // namespace tessera
