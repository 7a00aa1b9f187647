#pragma once

#include "core/id.hpp"

namespace tessera {

/// A node of a compiled graph, of a placed one, or of what an executor replays; each has numbers of its own.
using NodeId = Id<struct NodeTag>;

/// A task of a step plan, by its position in `StepPlan::tasks`.
using TaskId = Id<struct TaskTag>;

}  // namespace tessera
