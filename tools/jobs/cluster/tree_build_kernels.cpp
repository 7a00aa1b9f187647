#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/cluster/tree_build_body.hpp"

namespace tessera::jobs {

const JobKernels& treeBuildKernels() {
  static const JobKernels kernels = makeKernels<TreeBuildBody>();
  return kernels;
}

}  // namespace tessera::jobs
