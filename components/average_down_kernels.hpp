#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// New of a cell under finer patches becomes the mean of New over it. Needs `fromFiner()`.
TaskBody meanOfFiner(Label<double, Cell> label);
TaskBody meanOfFiner(Label<Components<double>, Cell> label);
/// New of a face that finer faces lie on becomes their mean.
TaskBody meanOfFiner(Label<double, FaceX> label);
TaskBody meanOfFiner(Label<double, FaceY> label);
TaskBody meanOfFiner(Label<double, FaceZ> label);

}  // namespace tessera
