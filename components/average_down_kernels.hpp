#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// New of a cell under finer patches becomes the mean of New over it. Needs `fromFiner()`.
TaskBody meanOfFiner(Label<double, Cell> label);
TaskBody meanOfFiner(Label<Components<double>, Cell> label);

}  // namespace tessera
