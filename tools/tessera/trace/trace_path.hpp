#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/tessera/trace/trace_model.hpp"

namespace tessera {

/// The time of the critical path of a trace by what it was spent on: a task's or fill's name, "pack for rank
/// 1", or "(message)", "(reduction)", "(ready, not started)", "(output)" and "(between steps)". The path
/// begins with the end of the last run and goes back, each time to what was waited for and came last: the
/// predecessor of a node, over ranks where that is a message or a reduction, the reductions of an earlier run
/// for the length of a step, and the run before where a run could begin no sooner. No moment is counted
/// twice, whatever the trace holds, so the sum is at most the time from the first begin of a run to the last
/// end, also where steps overlap or clocks of ranks differ. Nanoseconds.
std::map<std::string, std::int64_t> criticalPath(const TraceModel& trace);

}  // namespace tessera
