#pragma once

#include <string>

#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Where a task was declared, "components/heat/heat.cpp:41": the file with its last two folders, so that
/// messages are the same on every machine.
std::string placeOf(const TaskDeclaration& task);

}  // namespace tessera
