#pragma once

#include "core/exec/device_loops.hpp"
#include "core/geometry/box.hpp"

namespace tessera {

/// Records a loop of a solver, or a reduction, for a device; for the kernels that solver_kernels.cpp names.
template <class Kernel>
void recordLoop(DeviceLoops& loops, const Box& box, const Kernel& kernel);
template <class Kernel, class Tag>
void recordReduction(DeviceLoops& loops, const Box& box, const Kernel& kernel, Tag how);

}  // namespace tessera
