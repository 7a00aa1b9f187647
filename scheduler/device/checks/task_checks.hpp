#pragma once

#include "core/exec/device_loops.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

// Loops beside those of a task's body, over one access each, recorded in the same launch: so they run in the
// order in which they are recorded, whatever streams the task has, and cost no round trip. `name` is the
// task's and outlives the launch. Accesses have `findings`. Instantiated in task_checks_kernels.cpp.

/// Checked mode, before the body: makes what the task is to write NaN (whole numbers stay), with its halo,
/// which another variable may have left in the same memory; in a shared window only what the patch owns.
/// Clears the marks.
void recordPoison(DeviceLoops& loops, const char* name, const TaskAccess& access, const LabelInfo& info);
/// Checked mode, after the body: notes indices without a mark.
void recordUnwrittenSearch(DeviceLoops& loops, const char* name, const TaskAccess& access,
                           const LabelInfo& info);
/// After the body: notes numbers that are not finite in what the access declares; nothing for whole numbers.
void recordFiniteSearch(DeviceLoops& loops, const char* name, const TaskAccess& access,
                        const LabelInfo& info);

}  // namespace tessera
