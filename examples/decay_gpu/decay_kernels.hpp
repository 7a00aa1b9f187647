#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

/// One step of forward Euler, u' = (1 - rate dt) u.
tessera::TaskBody advanceDecay(tessera::Label<double, tessera::Cell> amount, double rate);

/// Contributes the largest amount of a cell to `most`, a Max.
tessera::TaskBody largestAmount(tessera::Label<double, tessera::Cell> amount, tessera::ReductionLabel most);
