#pragma once

#include <string>

#include "grid/patch.hpp"

namespace tessera {

/// The plan of a step of one level, where finer levels take shorter steps than coarser ones. A task that
/// names it with `.in(...)` is run with that level, whatever level it works on; others go with their own.
inline std::string levelPlanName(LevelId level) { return "level" + std::to_string(level); }
/// The plan that brings what finer steps have come to down to `level`, which then is as far as they are.
inline std::string syncPlanName(LevelId level) { return "sync" + std::to_string(level); }
/// The plan of tasks that contribute to reductions, on all levels at the end of the coarsest level's step.
inline std::string endPlanName() { return "end"; }

}  // namespace tessera
