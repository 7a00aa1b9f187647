#pragma once

#include <string>
#include <vector>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// A variable of another component that is a source here, times `factor`.
struct AddedSource {
  Label<double, Cell> label;
  double factor = 1.0;
};

/// Rule of a list of sources such as `[heat] sources`: each text is "[factor*]variable" or "-variable".
void checkAddedSources(const ParameterValues& values, const char* key, DeckDiagnostics& findings);

/// What the list says, which the rule has found right; empty where the deck does not have it.
std::vector<AddedSource> readAddedSources(const ParameterValues& values, const char* key, LabelTable& labels);

/// Makes `task` one that adds the sources, of `generation`, to New of `sum` in place.
void declareAddedSources(TaskBuilder task, Label<double, Cell> sum, const std::vector<AddedSource>& added,
                         Generation generation);

/// The body of that task.
TaskBody addSources(Label<double, Cell> sum, const std::vector<AddedSource>& added, Generation generation);

}  // namespace tessera
