#include "scheduler/jobs/make_kernels.hpp"
#include "tests/scheduler/jobs/branching_walk.hpp"

namespace tessera::jobs::testing {

const JobKernels& branchingWalkKernels() {
  static const JobKernels kernels = makeKernels<BranchingWalk>();
  return kernels;
}

const JobKernels& endlessKernels() {
  static const JobKernels kernels = makeKernels<Endless>();
  return kernels;
}

}  // namespace tessera::jobs::testing
