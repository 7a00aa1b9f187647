#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/cluster/tree_body.hpp"

namespace tessera::jobs {

const JobKernels& treeKernels() {
  static const JobKernels kernels = makeKernels<TreeBody>();
  return kernels;
}

}  // namespace tessera::jobs
