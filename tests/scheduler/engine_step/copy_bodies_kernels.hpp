#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::test {

/// Copies one variable of Old to another, on the host and on devices.
TaskBody copyBody(Label<double, Cell> from, Label<double, Cell> to);

}  // namespace tessera::test
