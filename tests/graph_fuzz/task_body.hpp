#pragma once

#include "taskgraph/task_body.hpp"
#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

class Program;

/// What a random task does where it runs: reads all that it declared and writes `combine` of it. `program`
/// has to live as long as the body.
TaskBody bodyOf(const Program& program, const TaskSpec& task);

}  // namespace tessera::fuzz
