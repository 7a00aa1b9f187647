#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

struct ComponentSetup;

/// Labels of one kind on the faces across each axis.
template <class T>
struct FaceSums {
  Label<T, FaceX> x;
  Label<T, FaceY> y;
  Label<T, FaceZ> z;
};

/// What has passed the faces across each resolved axis in a step: the mean flux over it. `T`: double or
/// Components<double>.
template <class T>
struct PassedLabels {
  Label<T, FaceX> x;
  Label<T, FaceY> y;
  Label<T, FaceZ> z;
  std::array<bool, kAxes> active{};  ///< axes of more than one cell
  /// Where finer levels take several steps in one of the coarser level: what passes borders of patches,
  /// summed over these.
  std::optional<FaceSums<T>> sums{};
  int levels = 1;  ///< of the mesh
};

/// Calls `visit(axis, label)` with those of `labels`, x, y and z, across the resolved axes.
template <class T, class Labels, class Visit>
void forEachActive(const PassedLabels<T>& passed, const Labels& labels, Visit&& visit) {
  if (passed.active[0]) visit(0, labels.x);
  if (passed.active[1]) visit(1, labels.y);
  if (passed.active[2]) visit(2, labels.z);
}

/// The labels "NAME_x", "NAME_y" and "NAME_z" of a variable, and "NAME_sum_x" ... where levels take steps of
/// their own.
PassedLabels<double> passedLabels(ComponentSetup& setup, const std::string& name);
/// The same for each of its components.
PassedLabels<Components<double>> passedLabels(ComponentSetup& setup, const std::string& name,
                                              const std::vector<ComponentInfo>& components);

/// Declares a task that keeps a balance where levels meet. Of New, a coarse cell beside finer ones has been
/// computed with the coarse flux through the face between them; it gets what has passed the finer faces in
/// its place, dt/h times the difference. So what leaves the one is what enters the others, and the integral
/// over all uncovered cells changes by what passes the sides of the domain only, up to rounding. A mean over
/// finer faces is summed in pairs, as in `averageDown`. Where finer levels take several steps meanwhile, two
/// more tasks, NAME + "Begin" and NAME + "Sum", sum what passes the borders of their patches in these.
///
/// `passed` is written, of New and on all levels, by tasks of the plan: the flux that `variable` changes by,
/// u' = u - dt/h (upper face - lower face). `of` names the task that leaves `variable`. For a mesh of several
/// levels, before `averageDown`:
///
///   refluxes(step, "Heat::reflux", temperature_, passed_, "Heat::advance");
///   averageDown(step, "Heat::averageDown", temperature_, "Heat::reflux");
void refluxes(StepPlan& plan, std::string_view name, Label<double, Cell> variable,
              const PassedLabels<double>& passed, std::string_view of);
/// The same for each component.
void refluxes(StepPlan& plan, std::string_view name, Label<Components<double>, Cell> variable,
              const PassedLabels<Components<double>>& passed, std::string_view of);

/// What `task` does with the labels of the resolved axes: writes them, or changes what `of` left.
template <class T>
void writePassed(TaskBuilder& task, const PassedLabels<T>& passed, std::string_view of = "") {
  forEachActive(passed, passed, [&](int, auto label) {
    if (of.empty()) {
      task.writes(label);
    } else {
      task.modifies(label, from(of));
    }
  });
}

}  // namespace tessera
