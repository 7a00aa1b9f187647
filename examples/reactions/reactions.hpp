#pragma once

#include "scheduler/engine/program.hpp"

/// The kinds of tasks of this example: ReactRow.
const tessera::engine::Program& reactionsProgram();
