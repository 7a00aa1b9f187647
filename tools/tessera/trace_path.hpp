#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/tessera/trace_model.hpp"

namespace tessera {

/// The time of the critical paths of all runs by what it was spent on: a task's or fill's name, "pack for
/// rank 1", or
/// "(message)", "(reduction)" and "(ready, not started)". The path of a run begins with the node that
/// finished last on any rank and goes back, each time to the predecessor that finished last: over ranks where
/// that is a message or a reduction. Nanoseconds.
std::map<std::string, std::int64_t> criticalPath(const TraceModel& trace);

}  // namespace tessera
