#include "scheduler/jobs/make_kernels.hpp"
#include "tests/scheduler/jobs_step/cell_walk.hpp"

namespace tessera::jobs::testing {

const JobKernels& cellWalkKernels() {
  static const JobKernels kernels = makeKernels<CellWalk>();
  return kernels;
}

}  // namespace tessera::jobs::testing
